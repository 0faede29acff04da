-- The steps of _gw_add_keyed_jobs, which sets the options of the planner. Each spec is an element of jobs, in the order
-- of the specs.

-- Returns the specs with their tasks and queues, whose names exist and are held. incoming: see _gw_incoming.
create or replace function {{.schema}}._gw_keyed_specs(specs {{.schema}}.job_spec[], incoming text[])
  returns {{.schema}}._gw_keyed_spec[] language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  first_identifier text    := specs[1].identifier;
  first_task       integer := (select t.id from {{.schema}}._private_tasks as t where t.identifier = first_identifier);
begin
  return array(
    select row(s.number,
               case when s.identifier = first_identifier then first_task
                    else (select t.id from {{.schema}}._private_tasks as t where t.identifier = s.identifier)
               end,
               case when s.queue_name is not null then
                      (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = s.queue_name)
                    when s.identifier = any (incoming) then -1 -- a claim looks for the limits of the job
               end,
               specs[s.number::integer], null, null)::{{.schema}}._gw_keyed_spec
      from unnest(specs) with ordinality
        as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
     order by s.number);
end;
$$;

-- Returns the jobs with the ids that new rows get: keys are locked in sorted order, but ids follow the order of the
-- specs. A spec whose job is already waiting draws no id, nor does the second spec with the same key. An id that was
-- drawn is kept.
create or replace function {{.schema}}._gw_draw_job_ids(jobs {{.schema}}._gw_keyed_spec[], job_keys text[])
  returns {{.schema}}._gw_keyed_spec[] language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  waiting text[] := array(select j.key from {{.schema}}._private_jobs as j where j.key = any (job_keys)
                              and coalesce(j.is_available, false)); -- no condition of an index of available jobs
begin
  return array(
    select row(s.number, s.task_id, s.queue_id, s.spec,
               case when s.new_id is not null then s.new_id
                    when s.is_new then nextval('{{ replace "'" "''" .schema }}.jobs_id_seq1') end,
               null)::{{.schema}}._gw_keyed_spec
      from (select u.*,
                   (u.spec).job_key is null
                   or (row_number() over (partition by (u.spec).job_key order by u.number) = 1
                       and (u.spec).job_key not in (select w.key from unnest(waiting) as w (key))) as is_new
              from unnest(jobs) as u
             order by u.number) as s);
end;
$$;

-- Inserts the jobs that have such an id, if there is no row under their key.
-- Locks: new keys in sorted order. It waits for other transactions that insert the same ones.
create or replace function {{.schema}}._gw_insert_keyed_jobs(jobs {{.schema}}._gw_keyed_spec[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  insert into {{.schema}}._private_jobs
    (id, job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
  overriding system value
  select u.new_id, u.queue_id, u.task_id, coalesce(s.payload, '{}'), coalesce(s.run_at, now()), coalesce(s.max_attempts, 25),
         s.job_key, coalesce(s.priority, 0), case when s.flags is not null then {{.schema}}._gw_flags(s.flags) end
    from unnest(jobs) as u
   cross join lateral (select (u.spec).*) as s
   where u.new_id is not null
     and not exists (select from {{.schema}}._private_jobs as j where j.key = s.job_key offset 0) -- row by row
   order by s.job_key, u.number
      on conflict (key) where key is not null do nothing;
end;
$$;

-- Locks the rows under the keys, and returns a key whose row is busy or gone, or the jobs with the ids of those that
-- are done: they were inserted, or are added here one by one, because the job under the key is not waiting or several
-- specs share it.
-- Locks: the rows under the keys, without waiting for them.
create or replace function {{.schema}}._gw_lock_keyed_jobs(
  inout jobs {{.schema}}._gw_keyed_spec[], job_key_mode text, out busy_key text)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  alone integer[]; -- the numbers of the specs that are added one by one
  job   {{.schema}}._gw_keyed_spec;
begin
  with looked as (
    select u.*, (u.spec).job_key is null or l.id is not distinct from u.new_id as is_inserted, l.id as found_id, l.is_available,
           count(*) over (partition by (u.spec).job_key) > 1 as is_repeated
      from unnest(jobs) as u
      -- Row by row: a join would depend on estimates.
      left join lateral (
           select j.id, j.is_available
             from {{.schema}}._private_jobs as j
            where j.key = (u.spec).job_key
           offset 0
              for update skip locked) as l on true
  )
  select min((s.spec).job_key) filter (where s.found_id is null),
         array_agg(row(s.number, s.task_id, s.queue_id, s.spec, s.new_id, case when s.is_inserted then s.new_id end)::{{.schema}}._gw_keyed_spec
                   order by s.number),
         array_agg(s.number order by s.number) filter (where not s.is_inserted and (not s.is_available or s.is_repeated))
    into busy_key, jobs, alone
    from looked as s;
  if busy_key is not null or alone is null then
    return;
  end if;
  for i in 1..cardinality(alone) loop
    job := jobs[alone[i]];
    job.job_id := ({{.schema}}._gw_add_keyed_job(job.task_id, job.queue_id, job.spec, job_key_mode, job.new_id)).id;
    jobs[alone[i]] := job;
  end loop;
end;
$$;

-- Replaces the waiting jobs of all specs that are not done, and returns all jobs, in the order of the specs. It returns
-- no row if one job is busy.
-- Locks: the rows under the keys, without waiting for them.
create or replace function {{.schema}}._gw_replace_keyed_jobs(
  jobs {{.schema}}._gw_keyed_spec[], job_key_mode text)
  returns setof {{.schema}}._private_jobs language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  ids     bigint[]; -- ascending
  numbers integer[]; -- of their specs
begin
  select array_agg(l.id order by l.id), array_agg(u.number order by l.id)
    into ids, numbers
    from unnest(jobs) as u
   cross join lateral (
         select j.id, j.is_available
           from {{.schema}}._private_jobs as j
          where j.key = (u.spec).job_key
         offset 0
            for update skip locked) as l
   where u.job_id is null and l.is_available;
  if coalesce(cardinality(ids), 0) < (select count(*) from unnest(jobs) as u where u.job_id is null) then
    return;
  end if;
  return query
  with replaced as (
    update {{.schema}}._private_jobs as j
       set (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags) = (
             select s.queue_id, s.task_id, {{.schema}}._gw_merged_payload(j.payload, (s.spec).payload, j.key),
                    case when job_key_mode = 'preserve_run_at' and j.attempts = 0 then j.run_at else coalesce((s.spec).run_at, now()) end,
                    coalesce((s.spec).max_attempts, 25), coalesce((s.spec).priority, 0),
                    case when (s.spec).flags is not null then {{.schema}}._gw_flags((s.spec).flags) end
               from (select (jobs[numbers[width_bucket(j.id, ids)]]).* offset 0) as s),
           revision   = j.revision + 1,
           attempts   = 0,
           last_error = null,
           updated_at = now()
     where j.id = any (ids)
    returning j.*, numbers[width_bucket(j.id, ids)] as number
  ), added as (
    select r.* from replaced as r
    union all
    select j.*, u.number
      from unnest(jobs) as u
     cross join lateral (select j.* from {{.schema}}._private_jobs as j where j.id = u.job_id offset 0) as j
  )
  select a.id, a.job_queue_id, a.task_id, a.payload, a.priority, a.run_at, a.attempts, a.max_attempts, a.last_error,
         a.created_at, a.updated_at, a.key, a.locked_at, a.locked_by, a.revision, a.flags, a.is_available
    from added as a
   where (select count(*) from replaced as r) + (select count(u.job_id) from unnest(jobs) as u) = cardinality(jobs)
   order by a.number;
end;
$$;
