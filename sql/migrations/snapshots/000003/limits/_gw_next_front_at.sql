-- For next_run_at: returns when a worker with these tasks (all if null) should search for jobs with limits; null if it need
-- not. The result may be too early, but is never too late.
create or replace function {{.schema}}._gw_next_front_at(
  task_identifiers text[]
)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  paused record;
begin
  select count(*) > 0 as found, max(coalesce(p.until, 'infinity')) as until
    into paused
    from {{.schema}}._gw_pauses as p
   where p.limit_name is null and coalesce(p.until, 'infinity') > clock_timestamp();
  if paused.found then
    return nullif(paused.until, 'infinity');
  end if;
  return least(
    case when exists (select from {{.schema}}._gw_fronts as f
                       where f.barred_by is null and f.run_at = '-infinity' and f.group_id is null and f.lane_id is null)
         then greatest(clock_timestamp() + interval '50 milliseconds', (select min(m.next_at) from {{.schema}}._gw_moves as m)) end, -- claims move jobs
    (select greatest(f.run_at, clock_timestamp() + case when u.is_ours then interval '20 milliseconds' else interval '0.5 seconds' end)
       from {{.schema}}._gw_fronts as f
       left join {{.schema}}._gw_groups as g on g.id = f.group_id
      cross join lateral (
             -- A group of any task may have jobs of this worker behind the first one. Suspects are for get_job_alone.
             select f.group_id is null
                    or (task_identifiers is null or g.tasks is not null)
                       and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = f.job_id)
                    or (select t.identifier = any (task_identifiers)
                          from {{.schema}}._private_jobs as j
                          join {{.schema}}._private_tasks as t on t.id = j.task_id
                         where j.id = f.job_id) is true as is_ours) as u
      where f.barred_by is null and f.run_at < 'infinity'
        and (f.group_id is null and f.lane_id is not null or g.id is not null and not g.is_retired and (g.tasks && task_identifiers) is not false)
      order by f.run_at
      limit 1));
end;
$$;

comment on function {{.schema}}._gw_next_front_at(text[]) is
  'Internal, for next_run_at: returns when a worker with these tasks should search for jobs with limits.';
