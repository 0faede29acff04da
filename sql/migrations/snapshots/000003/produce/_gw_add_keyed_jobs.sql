-- Adds the jobs of add_jobs if at least one spec has a key. The caller has checked the specs, holds their name locks
-- and has created the names. job_keys are the distinct keys.
-- Two calls never wait for each other. A call waits for a new key only while it holds no locks other than new keys that
-- sort before it. It waits for an existing row only while it holds no locks: if one row is busy, the block is rolled
-- back, which releases all its locks.
create or replace function {{.schema}}._gw_add_keyed_jobs(
  specs        {{.schema}}.job_spec[],
  job_keys     text[],
  job_key_mode text,
  groups       integer[] default null -- of the specs, where a limit applies
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  first_identifier text    := specs[1].identifier;
  first_task       integer := (select t.id from {{.schema}}._private_tasks as t where t.identifier = first_identifier);
  all_keyed        boolean := cardinality(job_keys) = cardinality(specs);
  repeated         text[];
  existing         text[];
  new_ids          bigint[]; -- indexed by the number of the spec, like done
  done             bigint[];
  others           bigint[];
  spec             record;
  busy_key         text;
begin
  if not all_keyed then
    select array_agg(r.job_key)
      into repeated
      from (select s.job_key from unnest(specs) as s group by s.job_key having count(s.job_key) > 1) as r;
  end if;

  for round in 1..1000 loop
    begin
      busy_key := null;
      done := '{}';
      -- The first round assumes that every key has a waiting job, as in most calls. If that is wrong, few or no rows
      -- are locked.
      if round > 1 or not all_keyed then
        select array_agg(j.key)
          into existing
          from {{.schema}}._private_jobs as j
         where j.key = any (job_keys) and j.is_available;

        -- The loop locks keys in sorted order, but ids follow the order of the specs. So the ids of new rows are drawn
        -- once, before the insert. A spec whose job is already waiting draws no id, nor does the second spec with the
        -- same key.
        select array_agg(n.id)
          into new_ids
          from (select case when new_ids[s.number::integer] is not null then new_ids[s.number::integer]
                            when s.is_new then nextval('{{ replace "'" "''" .schema }}.jobs_id_seq1') end as id
                  from (select u.number, u.job_key is null
                               or (row_number() over (partition by u.job_key order by u.number) = 1
                                   and u.job_key not in (select e.key from unnest(existing) as e (key))) as is_new
                          from unnest(specs) with ordinality
                            as u (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
                         order by u.number) as s) as n;

        insert into {{.schema}}._private_jobs
          (id, job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
        overriding system value
        select new_ids[s.number::integer], coalesce(groups[s.number::integer], q.id), t.id, coalesce(s.payload, '{}'), coalesce(s.run_at, now()),
               coalesce(s.max_attempts, 25), s.job_key, coalesce(s.priority, 0),
               case when s.flags is not null then {{.schema}}._gw_flags(s.flags) end
          from unnest(specs) with ordinality
            as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
          join {{.schema}}._private_tasks as t on t.identifier = s.identifier
          left join {{.schema}}._private_job_queues as q on q.queue_name = s.queue_name
         where new_ids[s.number::integer] is not null
           and not exists (select from {{.schema}}._private_jobs as j where j.key = s.job_key)
         order by s.job_key, s.number
            on conflict (key) where key is not null do nothing;

        with locked as materialized (
          select j.id, j.key, j.is_available
            from {{.schema}}._private_jobs as j
           where j.key = any (job_keys)
             for update skip locked
        )
        select (select min(k.key) from unnest(job_keys) as k (key) where k.key not in (select l.key from locked as l)),
               array_agg(case when s.job_key is null or l.id = new_ids[s.number::integer] then new_ids[s.number::integer] end
                         order by s.number),
               array_agg(s.number) filter (where l.id is distinct from new_ids[s.number::integer]
                                             and (not l.is_available or s.job_key = any (repeated)))
          into busy_key, done, others
          from unnest(specs) with ordinality
            as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
          left join locked as l on l.key = s.job_key;
        if busy_key is not null then
          raise exception using errcode = 'GWBKC';
        end if;

        for spec in
          select s.*, t.id as task_id, coalesce(groups[s.number::integer], q.id) as queue_id
            from unnest(specs) with ordinality
              as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
            join {{.schema}}._private_tasks as t on t.identifier = s.identifier
            left join {{.schema}}._private_job_queues as q on q.queue_name = s.queue_name
           where s.number = any (others)
           order by s.number
        loop
          done[spec.number::integer] := ({{.schema}}._gw_add_keyed_job(
            spec.task_id, spec.payload, spec.queue_id, spec.run_at, spec.max_attempts, spec.job_key, spec.priority,
            spec.flags, job_key_mode, new_ids[spec.number::integer])).id;
        end loop;
      end if;

      -- Every remaining spec has a waiting job. This statement replaces all of them or returns no row. It returns no
      -- row if one job is busy or was changed so recently that the locked row differs from the one in the statement's
      -- snapshot.
      return query
      with locked as materialized (
        select j.ctid as place, j.key, j.is_available
          from {{.schema}}._private_jobs as j
         where j.key = any (job_keys)
           for update skip locked
      ), replaced as (
        update {{.schema}}._private_jobs as j
           set job_queue_id = s.queue_id,
               task_id      = s.task_id,
               payload      = {{.schema}}._gw_merged_payload(j.payload, s.payload, j.key),
               run_at       = case when job_key_mode = 'preserve_run_at' and j.attempts = 0 then j.run_at
                                   else coalesce(s.run_at, now()) end,
               max_attempts = coalesce(s.max_attempts, 25),
               priority     = coalesce(s.priority, 0),
               flags        = case when s.flags is not null then {{.schema}}._gw_flags(s.flags) end,
               revision     = j.revision + 1,
               attempts     = 0,
               last_error   = null,
               updated_at   = now()
          from (select l.place, u.*,
                       case when u.identifier = first_identifier then first_task
                            else (select t.id from {{.schema}}._private_tasks as t where t.identifier = u.identifier)
                       end as task_id,
                       case when groups[u.number::integer] is not null then groups[u.number::integer]
                            when u.queue_name is not null then
                         (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = u.queue_name)
                       end as queue_id
                  from unnest(specs) with ordinality
                    as u (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
                  join locked as l on l.key = u.job_key
                 where (select count(*) from locked as w where w.is_available) = cardinality(job_keys)
                   and done[u.number::integer] is null) as s
         where j.ctid = s.place
        returning j.*, s.number
      ), added as (
        select r.* from replaced as r
        union all
        select j.*, d.number
          from unnest(done) with ordinality as d (id, number)
         cross join lateral (select j.* from {{.schema}}._private_jobs as j where j.id = d.id offset 0) as j -- row by row
      )
      select a.id, a.job_queue_id, a.task_id, a.payload, a.priority, a.run_at, a.attempts, a.max_attempts, a.last_error,
             a.created_at, a.updated_at, a.key, a.locked_at, a.locked_by, a.revision, a.flags, a.is_available
        from added as a
       where (select count(*) from replaced as r) + cardinality(array_remove(done, null)) = cardinality(specs)
       order by a.number;
      if found then
        return;
      end if;
      raise exception using errcode = 'GWBKC';
    exception when sqlstate 'GWBKC' then
      begin
        perform from {{.schema}}._private_jobs as j where j.key = busy_key for update;
        raise exception using errcode = 'GWBKC';
      exception when sqlstate 'GWBKC' then
        null;
      end;
    end;
  end loop;

  raise exception 'The rows under the job keys were replaced 1000 times during this call.'
    using errcode = 'GWBKC', hint = 'Nothing was added; try again.';
end;
$$;

comment on function {{.schema}}._gw_add_keyed_jobs({{.schema}}.job_spec[], text[], text, integer[]) is
  'Internal: adds the jobs of add_jobs if at least one spec has a key.';
