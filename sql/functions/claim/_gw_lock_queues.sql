-- Locks the first of these queues that are free, up to wanted, and returns their ids in the order of their heads: no more than have
-- enough jobs for the batch, if jobs_each of a queue count for it.
-- Locks: these queues, without waiting.
create or replace function {{.schema}}._gw_lock_queues(
  claim {{.schema}}._gw_claim, heads {{.schema}}._gw_place[], wanted integer, jobs_each integer)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return array(
    select e.id
      from (select l.id, l.place
              from (select q.id, h.place
                      from (select h.queue_id, h.place
                              from unnest(heads) with ordinality as h (priority, run_at, id, queue_id, place)
                             order by h.place) as h
                     cross join lateral (
                            select q.id
                              from {{.schema}}._private_job_queues as q
                             where q.id = h.queue_id and q.locked_at is null
                               for no key update skip locked) as q
                     limit wanted) as l
             cross join lateral (
                    select where jobs_each = 1
                    union all
                    (select from {{.schema}}._private_jobs as j
                      where jobs_each > 1 and j.is_available and j.job_queue_id = l.id
                        and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
                      limit jobs_each)) as j
             limit claim.batch_size) as e
     group by e.id, e.place
     order by e.place);
end;
$$;

comment on function {{.schema}}._gw_lock_queues({{.schema}}._gw_claim, {{.schema}}._gw_place[], integer, integer) is
  'Internal: locks the first of these queues that are free, and returns them.';
