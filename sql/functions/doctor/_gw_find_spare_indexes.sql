-- Indexes that only a fleet with Node workers needs, and that cost at every insert.
-- Spare is what nothing has read since statistics began, though many jobs were done and a registered worker lives. Node's
-- claims read it; so do ours, should the planner want it: then it stays unsaid.
create or replace function {{.schema}}._gw_find_spare_indexes(
  least_done bigint default 100000
)
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - interval '5 minutes') then
    return;
  end if;
  return query
  select 'info',
         'spare index',
         'index ' || c.relname,
         format('%s Nobody has read it while %s jobs were done.',
                spare.reason, pg_stat_get_tuples_deleted(i.indrelid)),
         format('If no Node worker is to come, drop it with: drop index concurrently %s.%I; -- to have it back, and before '
                'Node migrates: %s', {{.schema}}._gw_namespace(), c.relname, pg_get_indexdef(c.oid))
    from (values ('jobs_main_index', 'Only Node''s claims need it, and it is a fifth of what the WAL of an enqueue holds.'))
         as spare (index, reason)
    join pg_class as c on c.relname = spare.index and c.relnamespace = {{.schema}}._gw_namespace()
    join pg_index as i on i.indexrelid = c.oid
   where pg_stat_get_numscans(c.oid) = 0
     and pg_stat_get_tuples_deleted(i.indrelid) >= least_done;
end;
$$;

comment on function {{.schema}}._gw_find_spare_indexes(bigint) is
  'Internal, for doctor(): indexes that only Node needs and nobody has read while so many jobs were done.';
