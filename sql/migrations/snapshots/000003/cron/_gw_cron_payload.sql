-- Returns the payload of a recurring job with the key _cron added for this run. The rest of the payload keeps its
-- spelling.
create or replace function {{.schema}}._gw_cron_payload(payload json, run timestamptz, backfilled boolean)
  returns json language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  cron constant text := '"_cron":{"ts":"' || to_char(run at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                        || '","backfilled":' || backfilled || '}';
begin
  if payload is null then
    return ('{' || cron || '}')::json;
  end if;
  return (select ('{' || coalesce(string_agg(to_json(p.key) || ':' || p.value, ',' order by p.number) || ',', '')
                  || cron || '}')::json
            from json_each(payload) with ordinality as p (key, value, number)
           where p.key <> '_cron');
end;
$$;

comment on function {{.schema}}._gw_cron_payload(json, timestamptz, boolean) is 'Internal: returns the payload of a recurring job with the key _cron added for this run.';
