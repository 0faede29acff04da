-- Jobs that limits hold back for a long time: lanes that a worker has closed for long, or whose slots the same jobs have held
-- for long, old pauses without an end, and changes of limits whose jobs have not been moved yet. Reads at most 10 000 rows of
-- _gw_fronts.
create or replace function {{.schema}}._gw_find_held_limits(
  closed_for interval default '1 hour',
  paused_for interval default '1 day',
  moving_for interval default '10 minutes',
  full_for   interval default '3 hours'
)
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with waiting as materialized (
    select distinct k.lane
      from (select f.group_id from {{.schema}}._gw_fronts as f where f.group_id is not null and f.run_at <= now() limit 10000) as f
      join {{.schema}}._gw_groups as g on g.id = f.group_id
     cross join unnest(g.lanes) as k (lane)
     where exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = g.id and j.run_at <= now())
  )
  (select 'warning',
          'closed lane',
          'limit ' || i.name || coalesce(', lane ' || l.key, ''),
          format('A service has answered a worker that it accepts no requests before %s, and the worker has closed the lane until then. Its jobs wait.',
                 l.closed_until),
          format('If the service accepts requests again, open the lane, with: select %s.open_lane(%s);', {{.schema}}._gw_namespace(),
                 concat_ws(', ', quote_literal(i.name), quote_literal(l.key)))
     from waiting as w
     join {{.schema}}._gw_lanes as l on l.id = w.lane
     join {{.schema}}._gw_limits as i on i.id = l.limit_id
    where l.closed_until > now() + closed_for
    order by l.closed_until desc
    limit 10)
  union all
  (select 'warning',
          'full lane',
          'limit ' || i.name || coalesce(', lane ' || l.key, ''),
          format('The lane has started no job for %s, because its slots are in use. Its jobs wait. The slots are held by the jobs %s.',
                 {{.schema}}._gw_age(l.served_at),
                 (select string_agg(s.job_id::text, ', ')
                    from (select s.job_id from {{.schema}}._gw_slots(array[l.id]) as s order by s.job_id limit 10) as s)),
          'If these jobs no longer make progress, end them with cancel_jobs; set_limit and override_lane can raise the maximum of the lane.'
     from (select array_agg(o.id) as lane_ids
             from waiting as w
             join {{.schema}}._gw_lanes as o on o.id = w.lane
            where o.served_at < now() - full_for) as old
    cross join {{.schema}}._gw_lane_rooms(old.lane_ids, now()) as r
     join {{.schema}}._gw_lanes as l on l.id = r.lane_id
     join {{.schema}}._gw_limits as i on i.id = l.limit_id
    where r.reason = 'full'
    order by l.served_at
    limit 10)
  union all
  (select 'warning',
          'pause without end',
          coalesce('task ' || p.task, 'queue ' || p.queue_name, 'limit ' || p.limit_name || coalesce(', lane ' || p.lane, ''), 'all jobs'),
          format('Paused by %s for %s, until resume() is called. Due jobs wait. Reason: %s', p.author,
                 {{.schema}}._gw_age(p.paused_at), coalesce(p.reason, 'none')),
          format('If the reason no longer applies, end the pause, with: select %s.resume(%s);', {{.schema}}._gw_namespace(),
                 concat_ws(', ', 'task => ' || quote_literal(p.task), 'queue => ' || quote_literal(p.queue_name),
                           case when num_nulls(p.task, p.queue_name) = 2 then 'limit_name => ' || quote_literal(p.limit_name) end,
                           'lane => ' || quote_literal(p.lane)))
     from {{.schema}}._gw_pauses as p
    where p.until is null and p.paused_at < now() - paused_for
      and case when p.limit_name is null then
                 exists (select from {{.schema}}._private_jobs as j where j.is_available and j.run_at <= now())
               else exists (select from waiting as w
                              join {{.schema}}._gw_lanes as l on l.id = w.lane
                              join {{.schema}}._gw_limits as i on i.id = l.limit_id
                             where (i.name = p.limit_name or i.is_pause and p.task = any (i.tasks)) and (p.lane is null or p.lane = l.key))
          end
    order by p.id
    limit 10)
  union all
  (select 'warning',
          'unfinished move',
          'table _gw_moves',
          format('Limits were last changed %s ago, and their jobs have not all been moved; jobs of new limits do not run before that. '
                 'Claims and heartbeats of workers move them. The last pass must begin while no open transaction has added such jobs.',
                 {{.schema}}._gw_age(c.changed_at)),
          'Start a worker if none runs. End transactions that have added jobs and stay open; see pg_stat_activity.xact_start.'
     from {{.schema}}._gw_limit_changes as c
    where c.changed_at < now() - moving_for and exists (select from {{.schema}}._gw_moves));
end;
$$;

comment on function {{.schema}}._gw_find_held_limits(interval, interval, interval, interval) is
  'Internal, for doctor(): lanes that stay closed for so long, pauses without an end that are this old, and changes of limits that are not complete after this time.';
