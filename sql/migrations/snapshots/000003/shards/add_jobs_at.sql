-- add_jobs in a shard: all jobs have the same slot. See add_job_at.
-- Locks: the row of the slot and those of names, sorted; then as add_jobs.
-- Raises GWSNS, GWSLT, GWSMV, and what add_jobs raises.
create or replace function {{.schema}}.add_jobs_at(
  slot                    integer,
  specs                   {{.schema}}.job_spec[],
  job_key_preserve_run_at boolean default false
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_hold_shard_slot(slot);
  perform {{.schema}}._gw_place_name(n.kind, n.name, slot)
     from (select distinct k.kind, k.name
             from unnest(specs) as s
            cross join lateral (values ('key', s.job_key), ('queue', s.queue_name)) as k (kind, name)
            where k.name is not null
            order by k.kind, k.name) as n;
  return query select j.* from {{.schema}}.add_jobs(specs, job_key_preserve_run_at) as j;
end;
$$;

comment on function {{.schema}}.add_jobs_at(integer, {{.schema}}.job_spec[], boolean) is
  'Adds jobs of one slot as add_jobs() does, but only if this database is the shard that has the slot; see add_job_at().';
