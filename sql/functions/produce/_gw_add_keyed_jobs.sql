-- add_jobs when at least one spec has a key: returns the ids, one for each spec in their order.
-- The caller has checked the specs, holds their names and has made them.
-- So that no two calls wait for each other, this one waits for a new key only while it holds nothing but new keys before
-- it in sorted order, and for a row only with empty hands: when one of the rows is busy, all is undone, locks included.
create or replace function {{.schema}}._gw_add_keyed_jobs(
  specs        {{.schema}}.job_spec[],
  job_keys     text[],
  job_key_mode text
)
  returns bigint[]
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  repeated text[];
  existing text[];
  spec     record;
  added    {{.schema}}._private_jobs;
  job_ids  bigint[];
  answer   bigint[];
  inserted bigint[];
  replaced bigint[];
  busy_key text;
begin
  if cardinality(job_keys) < cardinality(specs) then
    select array_agg(r.job_key)
      into repeated
      from (select s.job_key from unnest(specs) as s group by s.job_key having count(s.job_key) > 1) as r;
  end if;

  for round in 1..1000 loop
    begin
      inserted := null; -- what a round before has inserted is undone
      -- At first all jobs are taken to be waiting. That is true of most calls, or else nothing is locked or little.
      if round > 1 or cardinality(job_keys) < cardinality(specs) then
        select array_agg(j.key)
          into existing
          from {{.schema}}._private_jobs as j
         where j.key = any (job_keys) and j.is_available;

        -- Keys are taken in sorted order, yet ids follow the specs: so the ids of rows to come are drawn now, once. A
        -- spec whose job waits already draws none, nor does the second spec with one key.
        select array_agg(n.id)
          into job_ids
          from (select case when job_ids[s.number::integer] is not null then job_ids[s.number::integer]
                            when s.is_new then nextval('{{ replace "'" "''" .schema }}.jobs_id_seq1') end as id
                  from (select u.number, u.job_key is null
                               or (row_number() over (partition by u.job_key order by u.number) = 1
                                   and u.job_key not in (select e.key from unnest(existing) as e (key))) as is_new
                          from unnest(specs) with ordinality
                            as u (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
                         order by u.number) as s) as n;

        with i as (
          insert into {{.schema}}._private_jobs
            (id, job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
          overriding system value
          select job_ids[s.number::integer], q.id, t.id, coalesce(s.payload, '{}'), coalesce(s.run_at, now()),
                 coalesce(s.max_attempts, 25), s.job_key, coalesce(s.priority, 0),
                 case when s.flags is not null then {{.schema}}._gw_flags(s.flags) end
            from unnest(specs) with ordinality
              as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
            join {{.schema}}._private_tasks as t on t.identifier = s.identifier
            left join {{.schema}}._private_job_queues as q on q.queue_name = s.queue_name
           where job_ids[s.number::integer] is not null
             and not exists (select from {{.schema}}._private_jobs as j where j.key = s.job_key)
           order by s.job_key, s.number
              on conflict (key) do nothing
          returning id, key
        )
        select array_agg(i.id) filter (where i.key is not null) into inserted from i;
      end if;

      -- Jobs that wait are replaced all at once, but for keys that several specs have.
      with locked as materialized (
        select j.id, j.ctid as place, j.key, j.is_available
          from {{.schema}}._private_jobs as j
         where j.key = any (job_keys)
         order by j.id
           for update skip locked
      ), replaced as (
        update {{.schema}}._private_jobs as j
           set job_queue_id = s.queue_id,
               task_id      = s.task_id,
               payload      = {{.schema}}._gw_merged_payload(j.payload, s.payload),
               run_at       = case when job_key_mode = 'preserve_run_at' and j.attempts = 0 then j.run_at
                                   else coalesce(s.run_at, now()) end,
               max_attempts = coalesce(s.max_attempts, 25),
               priority     = coalesce(s.priority, 0),
               flags        = case when s.flags is not null then {{.schema}}._gw_flags(s.flags) end,
               revision     = j.revision + 1,
               attempts     = 0,
               last_error   = null,
               updated_at   = now()
          from (select l.place, u.*, t.id as task_id, q.id as queue_id
                  from unnest(specs) with ordinality
                    as u (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
                  join locked as l on l.key = u.job_key
                  join {{.schema}}._private_tasks as t on t.identifier = u.identifier
                  left join {{.schema}}._private_job_queues as q on q.queue_name = u.queue_name
                 where (select count(*) from locked) = cardinality(job_keys)
                   and l.is_available
                   and l.id is distinct from job_ids[u.number::integer]
                   and (u.job_key = any (repeated)) is not true) as s
         where j.ctid = s.place
        returning j.id, s.number
      )
      select case when (select count(*) from locked) < cardinality(job_keys) then
               (select min(k.key) from unnest(job_keys) as k (key) where k.key not in (select l.key from locked as l))
             end,
             array_agg(coalesce(r.id, job_ids[o.number]) order by o.number),
             array_agg(r.number) filter (where r.id is not null)
        into busy_key, answer, replaced
        from generate_series(1, cardinality(specs)) as o (number)
        left join replaced as r on r.number = o.number;
      if busy_key is not null then
        raise exception using errcode = 'GWBKC';
      end if;
      job_ids := answer;
      if cardinality(replaced) = cardinality(specs) then
        return job_ids;
      end if;

      for spec in
        select s.*, t.id as task_id, q.id as queue_id
          from unnest(specs) with ordinality
            as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
          join {{.schema}}._private_tasks as t on t.identifier = s.identifier
          left join {{.schema}}._private_job_queues as q on q.queue_name = s.queue_name
         where s.job_key is not null
           and s.number <> all (coalesce(replaced, '{}'))
           and not exists (select from unnest(inserted) as i (id) where i.id = job_ids[s.number::integer])
         order by s.number
      loop
        added := {{.schema}}._gw_add_keyed_job(
          spec.task_id, spec.payload, spec.queue_id, spec.run_at, spec.max_attempts, spec.job_key, spec.priority,
          spec.flags, job_key_mode, job_ids[spec.number::integer]);
        job_ids[spec.number::integer] := added.id;
      end loop;
      return job_ids;
    exception when sqlstate 'GWBKC' then
      begin
        perform from {{.schema}}._private_jobs as j where j.key = busy_key for update;
        raise exception using errcode = 'GWBKC';
      exception when sqlstate 'GWBKC' then
        null;
      end;
    end;
  end loop;

  raise exception 'Job keys changed hands 1000 times during this call.'
    using errcode = 'GWBKC', hint = 'Nothing was added; try again.';
end;
$$;

comment on function {{.schema}}._gw_add_keyed_jobs({{.schema}}.job_spec[], text[], text) is
  'Internal: add_jobs when at least one spec has a key; returns the id for each spec.';
