-- Indexes that only a fleet with Node workers needs, and that make every insert more expensive.
-- An index is spare if nothing has read it since statistics began, although many jobs were completed and a registered
-- worker is alive. Node's claims read it. Our claims read it if the planner chooses it; then it is not reported.
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
         format('%s Nothing has read it while %s jobs were completed.',
                spare.reason, pg_stat_get_tuples_deleted(i.indrelid)),
         'If no Node worker will use the queue, drop it with: gw-migrate tune --without-node; which makes claims cheaper, too, and '
         'which --with-node reverses.'
    from (values ('jobs_main_index', 'Only Node''s claims need it, and it makes up a fifth of the WAL of adding a job.'))
         as spare (index, reason)
    join pg_class as c on c.relname = spare.index and c.relnamespace = {{.schema}}._gw_namespace()
    join pg_index as i on i.indexrelid = c.oid
   where pg_stat_get_numscans(c.oid) = 0
     and pg_stat_get_tuples_deleted(i.indrelid) >= least_done;
end;
$$;

comment on function {{.schema}}._gw_find_spare_indexes(bigint) is
  'Internal, for doctor(): indexes that only Node workers need and that nothing has read while this many jobs were completed.';
