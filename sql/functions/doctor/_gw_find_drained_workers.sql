-- Workers that are alive and have been drained for some minutes, while due jobs wait for tasks that no other worker
-- runs.
create or replace function {{.schema}}._gw_find_drained_workers(patience interval default '1 minute')
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'drained worker',
         'worker ' || w.id,
         format('It has been drained for %s and claims no jobs. Due jobs wait for tasks that no other worker runs: %s.',
                {{.schema}}._gw_age(w.drained_at), array_to_string(d.tasks[1 : 5], ', ')
                || case when cardinality(d.tasks) > 5 then ' and others' else '' end),
         format(e'Start another worker for these tasks, or let this one claim jobs again, with:\nselect %s.drain_worker(%L, false);',
                {{.schema}}._gw_namespace(), w.id)
    from {{.schema}}._gw_workers as w
   cross join lateral (
          select array_agg(t.identifier order by t.identifier) as tasks
            from {{.schema}}._private_tasks as t
           where (w.tasks = '{}' or t.identifier = any (w.tasks))
             and not {{.schema}}._gw_is_served(t.identifier, now())
             and {{.schema}}._gw_waits_for(t.identifier, null)) as d
   where w.drained_at < now() - patience
     and w.last_seen_at >= now() - (select {{.schema}}.setting('dead_after')::interval)
     and d.tasks is not null
   order by w.drained_at
   limit 10
$$;
