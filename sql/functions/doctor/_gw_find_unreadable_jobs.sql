-- Jobs that cannot be read: those at the start of the queue, which make get_job fail, and those that workers have
-- identified and failed.
-- A row may be damaged anywhere, so every query here reads only its id, except inside a block that catches the error.
create or replace function {{.schema}}._gw_find_unreadable_jobs(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  jobs_seen real := {{.schema}}._gw_share_seen('_private_jobs', pages);
  front     bigint;
  is_bad    boolean;
  problem   text;
begin
  for front in
    select j.id from {{.schema}}._private_jobs as j where j.is_available order by j.priority, j.run_at, j.id limit 10
  loop
    begin
      select octet_length(j.payload::text)::bigint + coalesce(octet_length(j.last_error), 0) > 1073740000
             or jsonb_typeof(j.flags) <> 'object'
        into is_bad
        from {{.schema}}._private_jobs as j
       where j.id = front;
      problem := case when is_bad then 'its payload is too large to be sent, or its flags are not an object' end;
    exception when others then
      problem := sqlerrm;
    end;
    if problem is not null then
      return query values (
        'critical', 'unreadable job', 'job ' || front,
        format('It is among the first jobs and cannot be read: %s. get_job and get_job_batch fail while it waits; '
               'workers of pkg/shim and gw-run identify it, fail it and continue.', problem),
        format(e'Fail it and return only its id, with:\nselect id from %s.permanently_fail_jobs(array[%s], ''It cannot be read.'');',
               {{.schema}}._gw_namespace(), front));
    end if;
  end loop;

  return query
  with failed as (
    select array_agg(j.id order by j.id) as ids
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     where not j.is_available and j.locked_at is null and left(j.last_error, 22) = 'The job cannot be read'
  )
  select 'warning', 'unreadable job', 'table _private_jobs',
         format('Jobs that failed because they could not be read: %s, the first is job %s; last_error in %s.jobs has '
                'the reason. If it reports missing or invalid data, the storage is damaged, and there may be more such '
                'jobs.',
                {{.schema}}._gw_estimate(cardinality(f.ids), jobs_seen), f.ids[1], {{.schema}}._gw_namespace()),
         format(e'Delete those that you do not want to repair and return only their ids, with:\nselect id from %s.complete_jobs(array[%s]);',
                {{.schema}}._gw_namespace(), array_to_string(f.ids[1 : 100], ', '))
    from failed as f
   where f.ids is not null;
end;
$$;
