-- Locks the first jobs without a queue, from a place on, that a claim may take, up to room, and returns their ctids and how many bytes
-- their payloads have at most. It goes from priority to priority, as _gw_plain_places; beyond: it has read each job after 500 of them.
-- snapshot, lockers: see _gw_may_lock.
-- Locks: the jobs, without waiting.
create or replace function {{.schema}}._gw_lock_plain_jobs(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, room integer, snapshot txid_snapshot, lockers xid[],
  out places tid[], out bytes numeric, out beyond boolean)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  first {{.schema}}._gw_place := from_place;
begin
  places := array[]::tid[];
  bytes := 0;
  for step in 1 .. 501 loop
    beyond := step > 500;
    select j.priority, j.run_at, j.id, null::integer
      into first
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
     order by j.priority, j.run_at, j.id
     limit 1;
    exit when not found;
    if first.run_at <= claim.due or beyond then
      select places || coalesce(array_agg(l.ctid), '{}'), bytes + coalesce(sum(l.size), 0)
        into places, bytes
        from (select j.ctid, case when claim.batch_size = 1 then 0 else {{.schema}}._gw_most_bytes(j.payload) end as size
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
                 and j.priority <= case when beyond then 32767 else first.priority end
                 and {{.schema}}._gw_may_lock(j.xmax, snapshot, lockers)
                 and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
               order by j.priority, j.run_at, j.id
               limit room - cardinality(places)
                 for update skip locked) as l;
    end if;
    exit when cardinality(places) >= room or first.priority = 32767;
    first := row(first.priority + 1, '-infinity', 0, null);
  end loop;
end;
$$;

comment on function {{.schema}}._gw_lock_plain_jobs({{.schema}}._gw_claim, {{.schema}}._gw_place, integer, txid_snapshot, xid[]) is
  'Internal: locks the first jobs without a queue that a claim may take.';
