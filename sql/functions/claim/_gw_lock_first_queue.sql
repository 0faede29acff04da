-- A shorter _gw_front_queues for a batch of one. Locks the named queue of the next job and returns its id, or 0 if the
-- next job has no queue. Returns null if this short search does not suffice. snapshot: see _gw_may_lock.
-- Locks: that queue, without waiting.
create or replace function {{.schema}}._gw_lock_first_queue(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, snapshot txid_snapshot)
  returns integer language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  plain    record;
  queue_id integer;
begin
  select j.priority, j.run_at, j.id, {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) as suits
    into plain
    from {{.schema}}._private_jobs as j
   where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (from_place.priority, from_place.run_at, from_place.id)
   order by j.priority, j.run_at, j.id
   limit 1;
  if plain.suits is false then -- the next job may suit
    return null;
  end if;
  with walked as materialized (
    select j.job_queue_id, j.priority, j.run_at, j.id, {{.schema}}._gw_may_lock(j.xmax, snapshot, null) as is_free,
           {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) as suits
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id > 0
       and (j.priority, j.run_at, j.id)
           < (coalesce(plain.priority, 32767), coalesce(plain.run_at, 'infinity'), coalesce(plain.id, 9223372036854775807))
     order by j.priority, j.run_at, j.id
     limit 16
  )
  select coalesce((select l.id
                     from walked as w
                    cross join lateral (
                           select q.id
                             from {{.schema}}._private_job_queues as q
                            where q.id = w.job_queue_id and q.locked_at is null
                              for no key update skip locked) as l
                    where w.suits
                      and not exists (select from walked as b -- the head of the queue is not free
                                       where not b.is_free and b.suits and b.job_queue_id = w.job_queue_id
                                         and (b.priority, b.run_at, b.id) <= (w.priority, w.run_at, w.id))
                    limit 1),
                  case when plain.id is not null and not exists (select from walked offset 15) then 0 end)
    into queue_id;
  return queue_id;
end;
$$;

comment on function {{.schema}}._gw_lock_first_queue({{.schema}}._gw_claim, {{.schema}}._gw_place, txid_snapshot) is
  'Internal: for a batch of one, locks and returns the named queue of the next job; 0 if that job has no queue, null if this short search does not suffice.';
