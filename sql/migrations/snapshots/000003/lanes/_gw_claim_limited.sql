-- Starts the jobs of a claim while there are limits, pauses, or jobs that were left from these, and returns their ids.
-- If there is no work under limits for its tasks, it is the ordinary search among the other tasks, and returns the
-- ctids of locked jobs, places, instead. It locks the limits of the tasks that have work and holds them to the end of
-- the transaction: so claims under one limit follow each other, and gates and lanes are changed by one session at a
-- time. It locks in one statement and reads in the next. Nothing waits. Above READ COMMITTED the snapshot may be older
-- than the locks, so only jobs without limits start.
-- Locks: rows of _gw_limits by id, queues, jobs; all without waiting.
create or replace function {{.schema}}._gw_claim_limited(claim {{.schema}}._gw_claim, out places tid[], out job_ids bigint[])
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  is_fresh constant boolean := current_setting('transaction_isolation') in ('read committed', 'read uncommitted');
  limited  integer[] := {{.schema}}._gw_tasks_under_limits(claim.task_ids);
  tasks    {{.schema}}._gw_limited_task[];
  came     boolean := false; -- whether plain jobs have become incoming
  held     integer[];
  missed   boolean; -- whether another transaction holds limits
  gate_ids integer[]; -- that this claim has changed
  round    record;
  wide     integer  := claim.batch_size;
begin
  if is_fresh then
    if limited <> '{}' then
      came := ({{.schema}}._gw_plain_candidates(claim, limited, greatest(claim.batch_size, 50))).came;
    end if;
    tasks := {{.schema}}._gw_limited_tasks(claim.task_ids, limited, claim.claimed_at, claim.due);
  end if;
  if tasks is null and {{.schema}}._gw_tasks_in_queues(limited) = '{}' then
    perform {{.schema}}._gw_note_left_work(claim, came);
    claim.task_ids := array(select u.id from unnest(claim.task_ids) as u (id) where u.id <> all (limited));
    places := {{.schema}}._gw_claim_unlimited(claim);
    return;
  end if;
  job_ids := array[]::bigint[];
  held := {{.schema}}._gw_take_limits(tasks);
  missed := exists (select from unnest(tasks) as t where not t.limit_ids <@ held);
  -- As they are now. From here on they stay so, because who changes them needs a lock that this transaction has; only
  -- the first limit of a task without limits needs none, and counts from the next claim on.
  tasks := array(select row(t.*)::{{.schema}}._gw_limited_task
                   from unnest({{.schema}}._gw_limited_tasks(claim.task_ids, limited, claim.claimed_at)) as t
                  where t.limit_ids <@ held and is_fresh);
  perform {{.schema}}._gw_empty_old_lanes(tasks);
  gate_ids := {{.schema}}._gw_count_ends(held, claim.claimed_at);
  for number in 1 .. 4 loop
    if gate_ids is not null then
      perform {{.schema}}._gw_open_lanes(gate_ids, tasks, claim.batch_size, claim.claimed_at);
    end if;
    round := {{.schema}}._gw_claim_round(claim, tasks, limited, claim.batch_size - cardinality(job_ids), wide, number);
    job_ids := job_ids || round.ids;
    gate_ids := gate_ids || round.gate_ids;
    exit when cardinality(job_ids) >= claim.batch_size or not round.more;
    wide := greatest(2 * wide, 100);
  end loop;
  gate_ids := case when gate_ids is not null then {{.schema}}._gw_name_gates(gate_ids, claim.claimed_at) end;
  if cardinality(job_ids) < claim.batch_size then
    perform {{.schema}}._gw_note_left_work(
      claim,
      missed or round.more
      or exists (select from {{.schema}}._gw_lanes as l where l.gate = any (gate_ids) and l.gate > 0 and l.task_id = any (claim.task_ids)));
  end if;
end;
$$;

comment on function {{.schema}}._gw_claim_limited({{.schema}}._gw_claim) is 'Internal: starts the jobs of a claim while there are limits, pauses, or jobs that were left from these, and returns their ids.';

-- One look at the jobs of a claim: reads the first ones, decides, locks, starts. most: how many may start. wide: how
-- many it looks at, at least, of each task. number: that of the round. In the first one, if lanes have lost their first
-- job, and in all but the last one, if incoming jobs of a fair limit were found, jobs only go into lanes, and none
-- starts, so that the next round knows the order. more: another round may start more.
create or replace function {{.schema}}._gw_claim_round(
  claim {{.schema}}._gw_claim, tasks {{.schema}}._gw_limited_task[], limited integer[], most integer, wide integer,
  number integer, out ids bigint[], out gate_ids integer[], out more boolean)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  search       {{.schema}}._gw_claim := claim;
  plain        record;
  queue_ids    integer[] := {{.schema}}._gw_next_queues(17);
  candidates   {{.schema}}._gw_candidate[];
  without_lane bigint[];
  choice       record;
begin
  more := false;
  plain := {{.schema}}._gw_plain_candidates(claim, limited, greatest(wide, 50));
  if queue_ids <> '{}' then
    -- Queues are searched without the limited tasks of which no job can start, because the claim does not hold all of
    -- their limits, or a gate that all of their jobs pass is full. If such a job is the first one of a queue that is
    -- found, the queue waits.
    search.task_ids := array(select u.id
                               from unnest(claim.task_ids) as u (id)
                               left join unnest(tasks) as t on t.task_id = u.id
                              where u.id <> all (limited)
                                 or t.task_id is not null and ({{.schema}}._gw_shared_room(t.limit_ids, claim.claimed_at)).room is distinct from 0);
    search.batch_size := wide;
    search.queue_batch := 1;
    queue_ids := array(select h.queue_id from unnest({{.schema}}._gw_front_queues(search, null, queue_ids, txid_current_snapshot())) as h);
    more := number < 4 and cardinality(queue_ids) >= wide; -- limits may hold back all of these
  end if;
  candidates := {{.schema}}._gw_candidates(claim, tasks, limited, plain.plain, queue_ids, most, wide);
  without_lane := array(select u.job_id from unnest(candidates) as u where u.lane_id = 0);
  if without_lane <> '{}' then
    perform {{.schema}}._gw_make_lanes(tasks, without_lane);
    candidates := {{.schema}}._gw_candidates(claim, tasks, limited, plain.plain, queue_ids, most, wide);
  end if;
  if exists (select from unnest(candidates) as u where u.starts is false and number < 4 or u.place is null and number = 1) then
    most := 0;
  end if;
  choice := {{.schema}}._gw_choose_jobs(candidates, most, claim.claimed_at);
  choice.chosen := {{.schema}}._gw_lock_heads(claim, choice.chosen);
  select s.ids, s.gate_ids into ids, gate_ids from {{.schema}}._gw_start_jobs(claim, choice.chosen, choice.lane_ids) as s;
  more := more or plain.came or choice.more
          or coalesce(cardinality(ids) < most -- an open lane was not read to its end
                      and exists (select from unnest(choice.chosen) as u
                                   where u.starts and (select l.gate is null from {{.schema}}._gw_lanes as l where l.id = u.lane_id)), false);
end;
$$;

comment on function {{.schema}}._gw_claim_round({{.schema}}._gw_claim, {{.schema}}._gw_limited_task[], integer[], integer, integer, integer) is 'Internal: one look at the jobs of a claim: reads the first ones, decides, locks, starts.';

-- Locks the named queues of the chosen jobs, and returns those of the jobs that have none, or are the first of their
-- queue now that it is
-- locked: by a later statement, which sees what the last holder of the queue committed.
-- Locks: queues by id, without waiting.
create or replace function {{.schema}}._gw_lock_heads(claim {{.schema}}._gw_claim, chosen {{.schema}}._gw_candidate[])
  returns {{.schema}}._gw_candidate[] language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  queue_ids integer[] := array(select u.queue_id from unnest(chosen) as u where u.queue_id is not null);
begin
  if queue_ids = '{}' then
    return chosen;
  end if;
  queue_ids := array(
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.id = any (queue_ids) and q.locked_at is null
     order by q.id
       for no key update skip locked);
  return array(
    select row(u.*)::{{.schema}}._gw_candidate
      from unnest(chosen) as u
     where u.queue_id is null
        or u.queue_id = any (queue_ids)
           and u.place = (select j.place from {{.schema}}._gw_first_in_queue(u.queue_id, claim, 1) as j));
end;
$$;

comment on function {{.schema}}._gw_lock_heads({{.schema}}._gw_claim, {{.schema}}._gw_candidate[]) is 'Internal: locks the named queues of the chosen jobs, and returns those of the jobs that have none, or are the first of their queue now that it is locked: by a later statement, which sees what the last holder of the queue committed.';
