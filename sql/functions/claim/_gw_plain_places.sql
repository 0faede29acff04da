-- Returns the places of the first jobs without a queue, from a place on, that a claim may take, as many as its batch has. Only reads.
-- It goes from priority to priority, so it does not read future jobs of a more urgent one; after 500 priorities it reads each job.
-- snapshot, lockers: see _gw_may_lock.
create or replace function {{.schema}}._gw_plain_places(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, snapshot txid_snapshot, lockers xid[])
  returns {{.schema}}._gw_place[] language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  first  {{.schema}}._gw_place := from_place;
  places {{.schema}}._gw_place[] := array[]::{{.schema}}._gw_place[];
begin
  for step in 1 .. 501 loop
    select j.priority, j.run_at, j.id, null::integer
      into first
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
     order by j.priority, j.run_at, j.id
     limit 1;
    exit when not found;
    if first.run_at <= claim.due or step > 500 then
      places := places || array(
        select row(j.priority, j.run_at, j.id, null)::{{.schema}}._gw_place
          from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
           and j.priority <= case when step > 500 then 32767 else first.priority end
           and {{.schema}}._gw_may_lock(j.xmax, snapshot, lockers)
           and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
         order by j.priority, j.run_at, j.id
         limit claim.batch_size - cardinality(places));
    end if;
    exit when cardinality(places) >= claim.batch_size or first.priority = 32767;
    first := row(first.priority + 1, '-infinity', 0, null);
  end loop;
  return places;
end;
$$;

comment on function {{.schema}}._gw_plain_places({{.schema}}._gw_claim, {{.schema}}._gw_place, txid_snapshot, xid[]) is
  'Internal: returns the places of the first jobs without a queue that a claim may take.';
