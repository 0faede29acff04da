-- The payload of a recurring job with its run in it, as _cron; everything else stays as it was written. One expression, so
-- that callers inline it.
create or replace function {{.schema}}._gw_cron_payload(
  payload    json,
  run        timestamptz,
  backfilled boolean
)
  returns json
  language sql
  stable
as $$
  select ('{' || coalesce((select pg_catalog.string_agg(pg_catalog.to_json(p.key) || ':' || p.value || ',', '' order by p.number)
                             from pg_catalog.json_each(payload) with ordinality as p (key, value, number)
                            where p.key <> '_cron'), '')
          || '"_cron":{"ts":"' || pg_catalog.to_char(run at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          || '","backfilled":' || backfilled || '}}')::json
$$;

comment on function {{.schema}}._gw_cron_payload(json, timestamptz, boolean) is
  'Internal: the payload of a recurring job with its run in it.';
