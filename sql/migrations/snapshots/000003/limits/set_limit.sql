-- Limits how many jobs run at once, or start per interval. If there is a limit of this name, the call replaces it.
-- tasks: the limit applies to the jobs of these tasks, of all tasks if null. queues: the limit applies to the jobs in named
-- queues of this name, in which * stands for any characters; these queues are then not serial, but run as many jobs at once
-- as the limit allows. If queues is null, the limit applies to jobs without a queue.
-- by: assigns each job to a lane, and the numbers of the limit apply to each lane: null, one lane for all jobs; 'queue', the
-- name of the queue; 'flag:tenant', a job with the flag tenant:42 has the lane 42; 'payload:field', a field of the payload.
-- A job without such a flag or field is not limited.
-- max_running: how many jobs of a lane run at once. total_running: how many jobs of all lanes run at once. rate, per, burst:
-- how many jobs of a lane start per interval, and how many of them at once, by default rate. fair: the lanes take turns;
-- among jobs of equal priority the lane with the fewest running jobs comes first, then the lane that has started no job for
-- the longest time. strict: for how long a job of a worker that seems dead keeps its slots after another worker may run it; the
-- worker may only have stopped for a while. At least one of max_running, total_running, rate and fair is required. If several
-- fair limits apply to a job, the limit that was set first determines its turn. If several limits apply to a job, it starts when
-- all allow it.
-- Claims that begin after the commit obey the limit. Claims and heartbeats move waiting jobs into their lanes in steps; a job
-- does not run until it is moved. Only workers of gw claim limited jobs; Node workers do not see them.
-- Records the act for list_audit, as do the other functions that change limits and pauses.
-- Locks: the row of limits, so that only one transaction at a time changes them.
-- Raises GWLVA.
create or replace function {{.schema}}.set_limit(
  name          text,
  tasks         text[]   default null,
  queues        text     default null,
  by            text     default null,
  max_running   integer  default null,
  total_running integer  default null,
  rate          integer  default null,
  per           interval default null,
  burst         integer  default null,
  fair          boolean  default false,
  strict        interval default null
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  wrong text := case
    when coalesce(length(name), 0) not between 1 and 128 then 'its name must be 1 to 128 characters long'
    when tasks = '{}' or array_position(tasks, null) is not null then 'tasks must be null or a list of names'
    when max_running < 1 or total_running < 1 or rate < 1 or burst < 1 then 'its numbers must be at least 1'
    when num_nonnulls(max_running, total_running, rate) = 0 and fair is not true then 'it needs max_running, total_running, rate or fair'
    when fair and by is null then 'fair needs by'
    when (rate is null) <> (per is null) then 'rate and per belong together'
    when burst is not null and rate is null then 'burst needs a rate'
    when per <= interval '0' or per > interval '1000 years' then 'per must be positive and at most 1000 years'
    when strict <= interval '0' or strict > interval '1 day' then 'strict must be positive and at most a day'
    when strict is not null and num_nonnulls(max_running, total_running) = 0 then 'strict needs max_running or total_running'
    when by <> 'queue' and by !~ '^(flag|payload):.' then 'by must be queue, flag:... or payload:...'
    when by = 'queue' and queues is null then 'by queue needs queues'
    when by is null and max_running is not null and total_running is not null then 'without by, total_running is max_running'
  end;
begin
  if wrong is not null then
    raise exception 'The limit ''%'' is invalid: %.', name, wrong using errcode = 'GWLVA';
  end if;
  perform {{.schema}}._gw_put_limit(name, tasks, queues, by, max_running, total_running, rate, per, burst, coalesce(fair, false), strict, false);
  perform {{.schema}}._gw_record_act('set limit', 0, name || ': ' || concat_ws(', ', 'tasks ' || tasks::text, 'queues ' || queues,
    'by ' || by, 'max_running ' || max_running, 'total_running ' || total_running, 'rate ' || rate || ' per ' || per, 'burst ' || burst, case when fair then 'fair' end, 'strict ' || strict));
end;
$$;

comment on function {{.schema}}.set_limit(text, text[], text, text, integer, integer, integer, interval, integer, boolean, interval) is
  'Limits how many jobs run at once or start per interval; replaces the limit of this name if there is one. tasks: the tasks to which it applies, all if null. queues: it applies to jobs in named queues of this name (* stands for any characters), which then run as many jobs at once as the limit allows; null: to jobs without a queue. by: assigns jobs to lanes: null (one lane), queue, flag:<name> or payload:<field>. max_running: jobs of a lane at once. total_running: jobs of all lanes at once. rate, per, burst: starts of a lane per interval, and at once (default: rate). fair: among jobs of equal priority the lane with the fewest running jobs comes first, then the lane that has started no job for the longest time. strict: for how long a job of a worker that seems dead keeps its slots after its recovery.';

-- Implements set_limit(), and creates the limits of pause().
create or replace function {{.schema}}._gw_put_limit(
  name          text,
  tasks         text[],
  queues        text,
  by            text,
  max_running   integer,
  total_running integer,
  rate          integer,
  per           interval,
  burst         integer,
  fair          boolean,
  strict        interval,
  is_pause      boolean
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  old record;
begin
  update {{.schema}}._gw_limit_changes as c set changed_at = clock_timestamp();
  select i.id, i.tasks, i.queues, i.by as lanes_by, i.max_running, i.total_running, i.rate, i.fair into old from {{.schema}}._gw_limits as i where i.name = name;
  if found then
    update {{.schema}}._gw_limits as i
       set max_running = max_running, total_running = total_running, rate = rate, per = per, burst = burst, strict = strict
     where i.id = old.id;
    if (old.tasks, old.queues, old.lanes_by, old.fair, old.max_running is null and old.rate is null, old.total_running is null)
       is not distinct from (tasks, queues, by, fair, max_running is null and rate is null, total_running is null) then
      perform {{.schema}}._gw_look_at_lanes(array(
        select l.id from {{.schema}}._gw_lanes as l where l.limit_id = old.id
           and exists (select from {{.schema}}._gw_fronts as f where f.barred_by = l.id)));
      perform {{.schema}}._gw_wake(1);
      return;
    end if;
    -- The limit applies to other jobs or has other lanes: a new limit replaces the old one.
    delete from {{.schema}}._gw_limits as i where i.id = old.id;
  end if;
  insert into {{.schema}}._gw_limits as i (name, tasks, queues, by, max_running, total_running, rate, per, burst, fair, strict, is_pause)
  values (name, tasks, queues, by, max_running, total_running, rate, per, burst, fair, strict, is_pause);
  perform {{.schema}}._gw_plan_move(tasks, queues, true);
  if old.id is not null and (old.tasks, old.queues) is distinct from (tasks, queues) then
    perform {{.schema}}._gw_plan_move(old.tasks, old.queues, false);
  end if;
end;
$$;

comment on function {{.schema}}._gw_put_limit(text, text[], text, text, integer, integer, integer, interval, integer, boolean, interval, boolean) is
  'Internal: implements set_limit(), and creates the limits of pause().';

-- Makes claims and heartbeats move the jobs of these tasks (all if null) into their groups: the jobs in queues of this name
-- or, if it is null, the jobs without a queue. bars is true for a new limit: until the move is complete, claims take none of
-- these jobs outside of groups.
create or replace function {{.schema}}._gw_plan_move(
  tasks  text[],
  queues text,
  bars   boolean
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  insert into {{.schema}}._gw_moves (tasks, queues, bars) values (tasks, queues, bars);
  update {{.schema}}._gw_groups as g
     set is_retired = true
   where not g.is_retired and (g.tasks && tasks) is not false
     and case when queues is null then g.queue_name is null else g.queue_name like {{.schema}}._gw_pattern(queues) escape '!' end;
  -- A front without a group and a lane makes the next claim search.
  insert into {{.schema}}._gw_fronts (priority, run_at, job_id) values (0, '-infinity', 0);
  perform {{.schema}}._gw_wake(1);
end;
$$;

comment on function {{.schema}}._gw_plan_move(text[], text, boolean) is
  'Internal: makes claims and heartbeats move the jobs of these tasks into their groups.';
