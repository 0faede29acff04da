-- Jobs that limits hold back for a long time: lanes that a worker has closed for long, or in which the same jobs have
-- run for long, and old pauses without an end. Roles that may see no payloads see no keys of lanes and no reasons.
-- Reads at most 10 000 lanes and 1 000 incoming jobs.
create or replace function {{.schema}}._gw_find_held_limits(
  closed_for interval default '1 hour', paused_for interval default '1 day', full_for interval default '3 hours')
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  hidden constant text := case when not {{.schema}}._gw_sees_data() then '(hidden)' end;
begin
  return query
  with waited_for as materialized (
    select g.limit_id, g.key, g.id as gate_id
      from (select l.gates
              from {{.schema}}._gw_lanes as l
             where l.gate is distinct from 0 and l.run_at <= now()
             limit 10000) as l
     cross join unnest(l.gates) as u (id)
      join {{.schema}}._gw_gates as g on g.id = u.id
    union
    select g.limit_id, g.key, g.gate_id
      from {{.schema}}._gw_gates_of_jobs(
             array(select j.id
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = -1 and j.run_at <= now()
                    limit 1000), now()) as g
  ), seen as materialized (
    select s.*, case when s.key is not null then coalesce(hidden, s.key) end as lane
      from {{.schema}}._gw_seen_gates(array(select w.gate_id from waited_for as w where w.gate_id is not null),
                                      now()) as s
  )
  (select 'warning',
          'closed lane',
          'limit ' || s.limit_name || coalesce(', lane ' || s.lane, ''),
          format('A service has answered a worker that it accepts no requests before %s, and the worker has closed the lane until then. Its jobs wait.',
                 s.opens_at),
          format(e'If the service accepts requests again, open the lane, with:\nselect %s.open_lane(%s);',
                 {{.schema}}._gw_namespace(), concat_ws(', ', quote_literal(s.limit_name), quote_literal(s.lane)))
     from seen as s
    where s.reason = 'closed' and s.opens_at > now() + closed_for
    order by s.opens_at desc
    limit 10)
  union all
  (select 'warning',
          'full lane',
          'limit ' || s.limit_name || coalesce(', lane ' || s.lane, ''),
          format('The lane has started no job for %s, because its slots are in use. Its jobs wait. The slots are held by the jobs %s.',
                 {{.schema}}._gw_age(r.since), array_to_string(r.job_ids[1 : 10], ', ')),
          'If these jobs no longer make progress, end them with cancel_jobs; set_limit and override_lane can raise the maximum of the lane.'
     from seen as s
     join (select r.gate_id, max({{.schema}}._gw_started_at(j.id, j.locked_at)) as since,
                  array_agg(j.id order by j.id) as job_ids
             from {{.schema}}._gw_running_at(array(select f.gate_id from seen as f where f.reason = 'full')) as r
             join {{.schema}}._private_jobs as j on j.id = r.job_id
            group by r.gate_id) as r on r.gate_id = s.gate_id
    where s.reason = 'full' and r.since < now() - full_for
    order by r.since
    limit 10)
  union all
  (select 'warning',
          'pause without end',
          coalesce('task ' || p.task, 'queue ' || p.queue_name,
                   'limit ' || p.limit_name || coalesce(', lane ' || p.lane, ''), 'all jobs'),
          format('Paused by %s for %s, until resume() is called. Due jobs wait. Reason: %s', p.author,
                 {{.schema}}._gw_age(p.paused_at), coalesce(hidden, p.reason, 'none')),
          format(e'If the reason no longer applies, end the pause, with:\nselect %s.resume(%s);',
                 {{.schema}}._gw_namespace(),
                 concat_ws(', ', 'task => ' || quote_literal(p.task), 'queue => ' || quote_literal(p.queue_name),
                           'limit_name => ' || quote_literal(p.limit_name), 'lane => ' || quote_literal(p.lane)))
     from (select o.*, case when o.key is not null then coalesce(hidden, o.key) end as lane
             from {{.schema}}._gw_pauses as o) as p
    where p.until is null and p.paused_at < now() - paused_for
      and case when p.limit_name is not null then
                 exists (select from waited_for as w
                           join {{.schema}}._gw_limits as i on i.id = w.limit_id
                          where i.name = p.limit_name and (p.key is null or p.key = w.key))
               else {{.schema}}._gw_waits_for(p.task, p.queue_name) end
    order by p.id
    limit 10);
end;
$$;

-- Returns whether a due job of this task, in this queue, or at all if both are null, waits. It reads at most 10 000
-- jobs.
create or replace function {{.schema}}._gw_waits_for(task text, queue_name text)
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  return exists (
    select
      from (select j.task_id, j.job_queue_id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.run_at <= now()
             limit 10000) as j
     where (_gw_waits_for.task is null
            or j.task_id = (select t.id from {{.schema}}._private_tasks as t where t.identifier = _gw_waits_for.task))
       and (_gw_waits_for.queue_name is null
            or j.job_queue_id = (select q.id from {{.schema}}._private_job_queues as q
                                  where q.queue_name = _gw_waits_for.queue_name)));
end;
$$;
