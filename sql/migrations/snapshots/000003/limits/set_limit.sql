-- Limits how many jobs run at once, or start per interval. If there is a limit of this name, the call replaces it.
-- tasks: the limit applies to the jobs of these tasks, of all tasks if null.
-- by: assigns each job to a lane, and the numbers of the limit apply to each lane: null, one lane for all jobs;
-- 'flag:tenant', a job with the flag tenant:42 has the lane 42; 'payload:field', a field of the payload. A job without
-- such a flag or field is not limited.
-- max_running: how many jobs of a lane run at once. total_running: how many jobs of all lanes run at once. rate, per,
-- burst: how many jobs of a lane start per interval, and how many of them at once, by default rate. fair: the lanes
-- take turns; among jobs of equal priority the lane with the fewest running jobs comes first, then the lane that has
-- started no job for the longest time. strict: for how long a job of a worker that seems dead keeps its slots after
-- another worker may run it; the worker may only have stopped for a while. At least one of max_running, total_running,
-- rate and fair is required. If several fair limits apply to a job, the limit that was set first determines its turn.
-- If several limits apply to a job, it starts when all allow it.
-- A job in a named queue stays in its queue: it starts when its queue and its limits allow it, and the jobs behind it
-- wait. Claims that begin after the commit obey the limit. Jobs and lanes are not written, however many wait. Only
-- workers of gw obey limits; Node workers do not see waiting jobs of limited tasks, except in named queues.
-- If the limit changes, its lanes keep their overrides and closings unless by changes, and what a rate has started
-- counts on. Records the act for list_audit, as do the other functions that change limits and pauses.
-- Locks: what _gw_change_limits and _gw_lock_limits lock, for the tasks of the limit before and after.
-- Raises GWLVA, GWLHB.
create or replace function {{.schema}}.set_limit(
  name          text,
  tasks         text[]   default null,
  by            text     default null,
  max_running   integer  default null,
  total_running integer  default null,
  rate          integer  default null,
  per           interval default null,
  burst         integer  default null,
  fair          boolean  default false,
  strict        interval default null
)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  is_fair         boolean := coalesce(fair, false);
  next_generation bigint  := nextval('{{ replace "'" "''" .schema }}._gw_limit_generations');
  wrong           text    := coalesce(
    {{.schema}}._gw_wrong_numbers(least(max_running, total_running), rate, per, burst),
    case
      when coalesce(length(name), 0) not between 1 and 128 then 'its name must be 1 to 128 characters long'
      when tasks = '{}' or tasks is not null and ('' <= all (tasks)) is null then 'tasks must be null or a list of names'
      when num_nonnulls(max_running, total_running, rate) = 0 and not is_fair then 'it needs max_running, total_running, rate or fair'
      when is_fair and by is null then 'fair needs by'
      when strict <= interval '0' or strict > interval '1 day' then 'strict must be positive and at most a day'
      when strict is not null and num_nonnulls(max_running, total_running) = 0 then 'strict needs max_running or total_running'
      when by !~ '^(flag|payload):.' then 'by must be flag:... or payload:...'
      when by is null and max_running is not null and total_running is not null then 'without by, total_running is max_running'
    end);
  old             {{.schema}}._gw_limits;
  new             {{.schema}}._gw_limits;
  affected        text[]; -- tasks; null: all
begin
  if wrong is not null then
    raise exception 'The limit ''%'' is invalid: %.', name, wrong using errcode = 'GWLVA';
  end if;
  tasks := case when tasks is not null then array(select t from unnest(tasks) as t (t)) end;
  perform {{.schema}}._gw_change_limits();
  select i.* into old from {{.schema}}._gw_limits as i where i.name = name;
  affected := case when tasks is not null and (old.id is null or old.tasks is not null) then tasks || old.tasks end;
  perform {{.schema}}._gw_lock_limits(affected);
  if old.id is null then
    insert into {{.schema}}._gw_limits as i (name, tasks, by, max_running, total_running, rate, per, burst, fair, strict, generation)
    values (name, tasks, by, max_running, total_running, rate, per, burst, is_fair, strict, next_generation)
    returning i.* into new;
  else
    loop -- what has gone back unstarted, at the old rate and by the old keys
      exit when {{.schema}}._gw_count_ends(array[old.id], clock_timestamp()) is null;
    end loop;
    -- A new generation if the limit applies to other jobs or has other gates.
    update {{.schema}}._gw_limits as i
       set tasks = tasks, by = by, max_running = max_running, total_running = total_running, rate = rate, per = per, burst = burst,
           fair = is_fair, strict = strict,
           generation = case when (i.tasks, i.by, i.fair, i.total_running is null, i.max_running is null and i.rate is null)
                                  is distinct from (tasks, by, is_fair, total_running is null, max_running is null and rate is null)
                             then next_generation else i.generation end
     where i.id = old.id
    returning i.* into new;
    perform {{.schema}}._gw_change_gates(old, new);
  end if;
  if old.generation is distinct from new.generation then
    perform {{.schema}}._gw_settle(affected);
  else
    perform {{.schema}}._gw_look_at_limits(array[new.id]);
  end if;
  perform {{.schema}}._gw_record_act('set limit', 0, name || ': ' || concat_ws(', ', 'tasks ' || tasks::text, 'by ' || by,
    'max_running ' || max_running, 'total_running ' || total_running, 'rate ' || rate || ' per ' || per, 'burst ' || burst,
    case when is_fair then 'fair' end, 'strict ' || strict));
end;
$$;

comment on function {{.schema}}.set_limit(text, text[], text, integer, integer, integer, interval, integer, boolean, interval) is
  'Limits how many jobs run at once or start per interval; replaces the limit of this name if there is one. tasks: the tasks to which it applies, all if null. by: assigns jobs to lanes: null (one lane), flag:<name> or payload:<field>. max_running: jobs of a lane at once. total_running: jobs of all lanes at once. rate, per, burst: starts of a lane per interval, and at once (default: rate). fair: among jobs of equal priority the lane with the fewest running jobs comes first, then the lane that has started no job for the longest time. strict: for how long a job of a worker that seems dead keeps its slots after its recovery.';

-- Changes the gates of a limit as its numbers change. If by changes, the keys are others: the gates lose their
-- overrides and closings, and what one of them owes to the rate all owe, also those that are made later.
-- The caller holds the limit.
create or replace function {{.schema}}._gw_change_gates(old {{.schema}}._gw_limits, new {{.schema}}._gw_limits)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  at       constant timestamptz := clock_timestamp();
  re_keyed constant boolean     := old."by" is distinct from new."by";
  old_span constant interval    := {{.schema}}._gw_charge(coalesce(old.burst, old.rate), old.rate, old.per);
  new_span constant interval    := {{.schema}}._gw_charge(coalesce(new.burst, new.rate), new.rate, new.per);
  owed_to  timestamptz          := {{.schema}}._gw_rescaled(old.theoretic_at, at, old_span, new_span);
begin
  if re_keyed or old_span is distinct from new_span then
    update {{.schema}}._gw_gates as g
       set theoretic_at = {{.schema}}._gw_rescaled(
             g.theoretic_at, at, coalesce({{.schema}}._gw_charge(coalesce(g.burst, g.rate), g.rate, g.per), old_span), new_span)
     where g.limit_id = new.id and g.theoretic_at > at and (g.rate is null or re_keyed);
  end if;
  if re_keyed then
    owed_to := greatest(owed_to, (select max(g.theoretic_at) from {{.schema}}._gw_gates as g where g.limit_id = new.id and not g.is_total));
    update {{.schema}}._gw_gates as g
       set theoretic_at = owed_to, closed_until = 'epoch', max_running = null, rate = null, per = null, burst = null
     where g.limit_id = new.id and not g.is_total;
    update {{.schema}}._gw_gate_ends as e set closed_until = null where e.limit_id = new.id and e.closed_until is not null;
  end if;
  update {{.schema}}._gw_limits as i set theoretic_at = owed_to where i.id = new.id and i.theoretic_at <> owed_to;
end;
$$;

comment on function {{.schema}}._gw_change_gates({{.schema}}._gw_limits, {{.schema}}._gw_limits) is 'Internal: changes the gates of a limit as its numbers change.';
