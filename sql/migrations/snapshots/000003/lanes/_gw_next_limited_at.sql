-- Returns when to search again for jobs under limits of these tasks (all if null); null if nothing is known to become due. If there is work
-- now, the result is soon: another claim holds the limits, or has stopped at a bound. The result may be too early, never too late.
create or replace function {{.schema}}._gw_next_limited_at(
  task_ids integer[]
)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  looked_at timestamptz := clock_timestamp();
  served    integer[]   := coalesce(task_ids, array(select t.id from {{.schema}}._private_tasks as t));
  tasks     {{.schema}}._gw_limited_task[];
begin
  tasks := {{.schema}}._gw_limited_tasks(served, {{.schema}}._gw_tasks_under_limits(served));
  if {{.schema}}._gw_tasks_with_work(tasks, looked_at, looked_at) is not null then
    return looked_at + (0.002 + 0.01 * random()) * interval '1 second';
  end if;
  return (
    select least(min(j.run_at), min(e.at), min(r.opens_at))
      from unnest(tasks) as t
      left join lateral (
            select j.run_at
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = -1 and j.task_id = t.task_id and j.run_at > looked_at and j.run_at < 'infinity'
             order by j.run_at
             limit 1) as j on true
      left join lateral (
            select e.at
              from {{.schema}}._gw_gate_ends as e
             where e.limit_id = any (t.limit_ids) and e.at > looked_at
             order by e.at
             limit 1) as e on true
      left join lateral (
            select r.opens_at
              from {{.schema}}._gw_gate_rooms(
                     array(select g.id from {{.schema}}._gw_gates as g where g.limit_id = any (t.limit_ids) and g.key is null), looked_at) as r
             where r.opens_at < 'infinity') as r on true);
end;
$$;

comment on function {{.schema}}._gw_next_limited_at(integer[]) is
  'Internal: returns when to search again for jobs under limits of these tasks; null if nothing is known to become due.';
