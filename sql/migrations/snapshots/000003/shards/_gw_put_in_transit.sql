-- Moves jobs that the caller has locked, and what else belongs to these slots, from their tables to _gw_shard_transit. Rows are
-- stored as the text of a record of their table, which is exact. The jobs have not ended, so the history records nothing, and
-- who asked for their results gets them where they arrive.
create or replace function {{.schema}}._gw_put_in_transit(
  slots   smallint[],
  job_ids bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set datestyle = 'ISO'
  set intervalstyle = 'postgres'
  set jit = off
as $$
begin
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, was_due, task, queue_name, record)
  select coalesce(w.slot, -1), 'job', j.id, j.run_at <= now(),
         (select t.identifier from {{.schema}}._private_tasks as t where t.id = j.task_id),
         coalesce((select q.queue_name from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id),
                  (select g.queue_name from {{.schema}}._gw_groups as g where g.id = j.job_queue_id)),
         j::text
    from {{.schema}}._private_jobs as j
    left join {{.schema}}._gw_jobs_of_slots(slots) as w on w.id = j.id
   where j.id = any (job_ids);
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select t.slot, 'context', c.job_id, c::text
    from {{.schema}}._gw_job_context as c
    join {{.schema}}._gw_shard_transit as t on t.job_id = c.job_id and t.kind = 'job'
   where c.job_id = any (job_ids);
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select t.slot, 'suspect', s.job_id, s::text
    from {{.schema}}._gw_suspects as s
    join {{.schema}}._gw_shard_transit as t on t.job_id = s.job_id and t.kind = 'job'
   where s.job_id = any (job_ids);
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select t.slot, 'step', s.job_id, s::text
    from {{.schema}}._gw_steps as s
    join {{.schema}}._gw_shard_transit as t on t.job_id = s.job_id and t.kind = 'job'
   where s.job_id = any (job_ids);
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select t.slot, 'progress', p.job_id, p::text
    from {{.schema}}._gw_progress as p
    join {{.schema}}._gw_shard_transit as t on t.job_id = p.job_id and t.kind = 'job'
   where p.job_id = any (job_ids);
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select t.slot, 'expected', e.job_id, e::text
    from {{.schema}}._gw_expected as e
    join {{.schema}}._gw_shard_transit as t on t.job_id = e.job_id and t.kind = 'job'
   where e.job_id = any (job_ids);
  perform set_config('gw.outcome', 'moved', true); -- see _gw_jobs_ended
  delete from {{.schema}}._private_jobs as j where j.id = any (job_ids);
  perform set_config('gw.outcome', '', true);
  delete from {{.schema}}._gw_job_context as c where c.job_id = any (job_ids);
  delete from {{.schema}}._gw_suspects as s where s.job_id = any (job_ids);
  delete from {{.schema}}._gw_steps as s where s.job_id = any (job_ids);
  delete from {{.schema}}._gw_progress as p where p.job_id = any (job_ids);
  delete from {{.schema}}._gw_expected as e where e.job_id = any (job_ids);

  with gone as (
    delete from {{.schema}}._gw_keyed_calls as c
     where {{.schema}}._gw_slot_of_key(c.key) = any (slots)
    returning c.key, c.job_id, c::text as record
  )
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select {{.schema}}._gw_slot_of_key(g.key), 'call', g.job_id, g.record from gone as g;
  with gone as (
    delete from {{.schema}}._private_known_crontabs as k
     where {{.schema}}.shard_slot(k.identifier) = any (slots)
    returning k.identifier, k::text as record
  )
  insert into {{.schema}}._gw_shard_transit (slot, kind, record)
  select {{.schema}}.shard_slot(g.identifier), 'crontab', g.record from gone as g;
  with gone as (
    delete from {{.schema}}._gw_schedules as s
     where {{.schema}}.shard_slot(s.identifier) = any (slots)
    returning s.identifier, s.last_job_id, s::text as record
  )
  insert into {{.schema}}._gw_shard_transit (slot, kind, job_id, record)
  select {{.schema}}.shard_slot(g.identifier), 'schedule', g.last_job_id, g.record from gone as g;
  insert into {{.schema}}._gw_shard_transit (slot, kind, record)
  select n.slot, 'name', n::text
    from {{.schema}}._gw_shard_names as n
   where n.slot = any (slots)
     and not exists (select from {{.schema}}._gw_shard_transit as t where t.slot = n.slot and t.kind = 'name' and t.record = n::text);
end;
$$;

comment on function {{.schema}}._gw_put_in_transit(smallint[], bigint[]) is
  'Internal, for moving slots: takes jobs, and what else belongs to these slots, out of their tables into _gw_shard_transit.';

-- Puts what is in transit for these slots back into its tables, in this or in another database, and returns the number of jobs.
-- In another shard the jobs get new ids, in the order in which they are claimed, and jobs that are due become due now at the
-- latest by the clock of this server: so later jobs of their queues come after them.
-- Locks: name locks and names, then lanes and groups, as add_jobs.
create or replace function {{.schema}}._gw_take_from_transit(
  slots    smallint[],
  keep_ids boolean
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set datestyle = 'ISO'
  set intervalstyle = 'postgres'
  set jit = off
as $$
declare
  jobs     {{.schema}}._private_jobs[];
  tasks    text[];
  queues   text[];
  new_ids  bigint[];
  groups   integer[];
  step     constant integer := 10000; -- jobs, which are in memory
  arrived  bigint := 0;
begin
  insert into {{.schema}}._gw_shard_names as n (kind, name, slot)
  select r.kind, r.name, r.slot
    from {{.schema}}._gw_shard_transit as t
   cross join lateral (select (t.record::{{.schema}}._gw_shard_names).*) as r
   where t.slot = any (slots) and t.kind = 'name'
      on conflict on constraint _gw_shard_names_pkey do nothing;
  loop
    select array_agg(r.job order by r.number), array_agg(r.task order by r.number), array_agg(r.queue_name order by r.number)
      into jobs, tasks, queues
      from (select w.job, w.task, w.queue_name, row_number() over (order by (w.job).priority, (w.job).run_at, (w.job).id) as number
              from (select t.record::{{.schema}}._private_jobs as job, t.task, t.queue_name
                      from {{.schema}}._gw_shard_transit as t
                     where t.slot = any (slots) and t.kind = 'job' and not t.is_taken) as w
             order by number
             limit step) as r;
    exit when jobs is null;
    perform {{.schema}}._gw_hold_names(tasks, queues);
    perform {{.schema}}._gw_make_names(tasks, queues);
    if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limits'::regclass) > 0 then
      groups := {{.schema}}._gw_groups_of(array(
        select row(tasks[u.number], u.payload, queues[u.number], u.run_at, u.max_attempts, u.key, u.priority,
                   case when u.flags is not null then array(select jsonb_object_keys(u.flags)) end)::{{.schema}}.job_spec
          from unnest(jobs) with ordinality
            as u (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at,
                  key, locked_at, locked_by, revision, flags, is_available, number)
         order by u.number));
    end if;
    new_ids := array(
      select case when keep_ids then u.id else nextval('{{ replace "'" "''" .schema }}.jobs_id_seq1') end
        from unnest(jobs) with ordinality
          as u (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at,
                key, locked_at, locked_by, revision, flags, is_available, number)
       order by u.number);
    insert into {{.schema}}._private_jobs
      (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at, key,
       revision, flags)
    overriding system value
    select new_ids[u.number],
           coalesce(groups[u.number],
                    (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = queues[u.number])),
           (select t.id from {{.schema}}._private_tasks as t where t.identifier = tasks[u.number]),
           u.payload, u.priority,
           case when keep_ids or not (select t.was_due from {{.schema}}._gw_shard_transit as t
                                       where t.slot = any (slots) and t.kind = 'job' and t.job_id = u.id)
                then u.run_at else least(u.run_at, now()) end,
           u.attempts, u.max_attempts, u.last_error, u.created_at, u.updated_at,
           -- The key is taken only if a job was added past the fence. Both jobs stay.
           case when not exists (select from {{.schema}}._private_jobs as o where o.key = u.key) then u.key end,
           u.revision, u.flags
      from unnest(jobs) with ordinality
        as u (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at,
              key, locked_at, locked_by, revision, flags, is_available, number)
     order by u.number;
    if groups is not null then
      perform {{.schema}}._gw_put_fronts(new_ids);
    end if;
    update {{.schema}}._gw_shard_transit as t
       set is_taken = true, new_id = new_ids[u.number]
      from unnest(jobs) with ordinality
        as u (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at,
              key, locked_at, locked_by, revision, flags, is_available, number)
     where t.slot = any (slots) and t.kind = 'job' and t.job_id = u.id;
    arrived := arrived + cardinality(jobs);
  end loop;
  perform {{.schema}}._gw_take_records(slots, keep_ids);
  if arrived > 0 then
    perform {{.schema}}._gw_wake(arrived::integer);
  end if;
  return arrived;
end;
$$;

comment on function {{.schema}}._gw_take_from_transit(smallint[], boolean) is
  'Internal, for moving slots: puts what is in transit for these slots into its tables, and returns the number of jobs.';

-- The part of _gw_take_from_transit after the jobs: what refers to them, by their new ids.
create or replace function {{.schema}}._gw_take_records(
  slots    smallint[],
  keep_ids boolean
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set datestyle = 'ISO'
  set intervalstyle = 'postgres'
  set jit = off
as $$
begin
  insert into {{.schema}}._gw_job_context (job_id, revision, context)
  select j.new_id, r.revision, r.context
    from {{.schema}}._gw_shard_transit as t
    join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_job_context).*) as r
   where t.slot = any (slots) and t.kind = 'context'
   order by j.new_id
      on conflict do nothing;
  insert into {{.schema}}._gw_suspects (job_id, revision, crashes, is_alone, strict)
  select j.new_id, r.revision, r.crashes, r.is_alone, r.strict
    from {{.schema}}._gw_shard_transit as t
    join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_suspects).*) as r
   where t.slot = any (slots) and t.kind = 'suspect'
      on conflict do nothing;
  insert into {{.schema}}._gw_steps (job_id, revision, name, result, saved_at)
  select j.new_id, r.revision, r.name, r.result, r.saved_at
    from {{.schema}}._gw_shard_transit as t
    join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_steps).*) as r
   where t.slot = any (slots) and t.kind = 'step'
      on conflict do nothing;
  insert into {{.schema}}._gw_progress (job_id, revision, attempt, percent, note, reported_at)
  select j.new_id, r.revision, r.attempt, r.percent, r.note, r.reported_at
    from {{.schema}}._gw_shard_transit as t
    join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_progress).*) as r
   where t.slot = any (slots) and t.kind = 'progress'
      on conflict do nothing;
  insert into {{.schema}}._gw_expected (job_id, kept_until)
  select j.new_id, r.kept_until
    from {{.schema}}._gw_shard_transit as t
    join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_expected).*) as r
   where t.slot = any (slots) and t.kind = 'expected'
   order by j.new_id
      on conflict do nothing;
  -- The job of a call may be gone, or run in the other shard: then no job has its id here, which must not be that of another.
  insert into {{.schema}}._gw_keyed_calls (kind, key, job_id, began_at, not_before, kept_until)
  select r.kind, r.key, coalesce(j.new_id, case when keep_ids then r.job_id else -r.job_id end), r.began_at, r.not_before, r.kept_until
    from {{.schema}}._gw_shard_transit as t
    left join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_keyed_calls).*) as r
   where t.slot = any (slots) and t.kind = 'call'
      on conflict on constraint _gw_keyed_calls_pkey do nothing;
  insert into {{.schema}}._private_known_crontabs as k (identifier, known_since, last_execution)
  select r.identifier, r.known_since, r.last_execution
    from {{.schema}}._gw_shard_transit as t
   cross join lateral (select (t.record::{{.schema}}._private_known_crontabs).*) as r
   where t.slot = any (slots) and t.kind = 'crontab'
      on conflict (identifier) do update
     set known_since = least(k.known_since, excluded.known_since), last_execution = greatest(k.last_execution, excluded.last_execution);
  insert into {{.schema}}._gw_schedules
    (identifier, task, pattern, time_zone, payload, fill, queue_name, max_attempts, priority, job_key, job_key_mode, flags, paused,
     active_since, last_run, last_job_id)
  select r.identifier, r.task, r.pattern, r.time_zone, r.payload, r.fill, r.queue_name, r.max_attempts, r.priority, r.job_key,
         r.job_key_mode, r.flags, r.paused, r.active_since, r.last_run, coalesce(j.new_id, case when keep_ids then r.last_job_id end)
    from {{.schema}}._gw_shard_transit as t
    left join {{.schema}}._gw_shard_transit as j on j.slot = t.slot and j.kind = 'job' and j.job_id = t.job_id
   cross join lateral (select (t.record::{{.schema}}._gw_schedules).*) as r
   where t.slot = any (slots) and t.kind = 'schedule'
      on conflict (identifier) do nothing;
end;
$$;

comment on function {{.schema}}._gw_take_records(smallint[], boolean) is
  'Internal, for moving slots: puts what refers to the jobs of these slots into its tables.';
