-- Returns the pauses, the oldest first. Those that have ended by themselves are left out. Roles that may see no
-- payloads, such as monitors, see neither keys of lanes nor reasons.
create or replace function {{.schema}}.list_pauses()
  returns table (
    task       text,
    queue      text,
    limit_name text,
    lane       text,
    reason     text,
    author     text,
    paused_at  timestamptz,
    until      timestamptz
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  sees constant boolean := {{.schema}}._gw_sees_data();
begin
  return query
  select p.task, p.queue_name, p.limit_name, case when sees then p.key end, case when sees then p.reason end, p.author,
         p.paused_at, p.until
    from {{.schema}}._gw_pauses as p
   where coalesce(p.until, 'infinity') > clock_timestamp()
   order by p.id;
end;
$$;

comment on function {{.schema}}.list_pauses() is
  'Returns the pauses in force, the oldest first.';
