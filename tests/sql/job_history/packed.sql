-- Packed records read the same as recent ones, whatever times a job has; what is large has a row of its own; what is older than
-- its time is dropped.
begin;
select plan(13);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../history.psql
select keep_task('task', '30 days', payloads => true);
select keep_task('other', '400 days');

select add_job('task', json_build_object('n', n), case when n % 2 = 0 then 'queue ' || n end, job_key => case when n > 8 then 'key ' || n end)
  from generate_series(1, 10) as n;
select add_job('other', run_at => '-infinity'), add_job('other'), add_job('task', (select to_json(string_agg(md5(n::text), '')) from generate_series(1, 1000) as n));
insert into _private_jobs (task_id, run_at, created_at) -- 14, 15
select t.id, now() - interval '2 days', timestamptz 'infinity' from _private_tasks as t where t.identifier = 'other'
union all
select t.id, '4713-01-01 BC', '294276-12-31' from _private_tasks as t where t.identifier = 'other';
select count(*) from get_job_batch('w', null, 4);
select count(*) from get_job_batch('v', null, 20);
select fail_job('w', id, 'failed') from (select id from _private_jobs where locked_by = 'w' order by id limit 2) as j;
select count(*) from complete_job_batch('w', array(select id from _private_jobs where locked_by = 'w'));
select count(*) from complete_job_batch('v', array(select id from _private_jobs where locked_by = 'v'));
select complete_jobs(array(select id from _private_jobs));

create function pg_temp.shown() returns table (line text, ended_at timestamptz, run_at timestamptz, created_at timestamptz, ran numeric) language sql as $$
  select concat_ws('|', j.id, h.attempt, h.max_attempts, h.outcome, h.worker_id, h.place, h.error, h.task_identifier, h.key, h.payload,
                   h.started_at is null, h.run_at is null, h.created_at is null),
         h.ended_at,
         case when abs(extract(epoch from h.started_at) - extract(epoch from h.run_at)) < 1e8 then h.run_at end,
         case when abs(extract(epoch from h.run_at) - extract(epoch from h.created_at)) < 1e8 then h.created_at end,
         extract(epoch from h.ended_at - h.started_at)::numeric
    from generate_series(1, 16) as j (id)
   cross join lateral job_history(j.id) as h
$$;
create temporary table recent as select * from pg_temp.shown();
select cmp_ok((select count(*) from recent), '>=', 17::bigint, 'all attempts are recorded');
select pg_temp.pack();
select is((select count(*) from _gw_ended), 0::bigint, 'all records are moved to packed ones');
select set_eq('select line from pg_temp.shown()', 'select line from recent',
  'packed records read the same as recent ones');
-- Two days in seven digits are exact to a hundredth of a second.
select is_empty($$ select r.line, r.ended_at, s.ended_at, r.run_at, s.run_at, r.created_at, s.created_at, r.ran, s.ran
    from recent as r
    join pg_temp.shown() as s on s.line = r.line
   where r.ended_at not between s.ended_at - interval '0.2 ms' and s.ended_at + interval '0.2 ms'
      or abs(r.ran - s.ran) > 0.0002
      or (r.run_at is null) <> (s.run_at is null)
      or abs(extract(epoch from r.run_at - s.run_at)) > case r.run_at when now() then 0.0005 else 0.02 end
      or (r.created_at is null) <> (s.created_at is null)
      or abs(extract(epoch from r.created_at - s.created_at)) > case r.run_at when now() then 0.0005 else 0.02 end $$,
      'packed records have the times of the recent ones');
select is((select count(*) from _gw_history where task = 'task'), 2::bigint, 'the large payload has a row of its own');
select is((select h.task_identifier || ' ' || h.outcome from job_history(99999) as h), null,
  'a job that never was added has no history');
select is((select string_agg(h.outcome, ' ') from list_history(job_key => 'key 10') as h), 'completed',
  'list_history() finds a packed record by the key of its job');
select is(pg_temp.lines(1 + 8191), null, 'an id in the range of a packed row without a record has no history');
select results_eq($$ select distinct drop_on from _gw_history where task = 'task' $$,
  $$ select ((now() at time zone 'UTC')::date + 31) $$, 'the records are dropped on the day after their time');
select ok((select max(drop_on) from _gw_history where task = 'other') between (now() + interval '401 days')::date and (now() + interval '432 days')::date,
  'records with a long time are dropped with the end of a month');

-- What is over.
select _gw_make_history(array[(now() - interval '1 day')::date]);
select isnt(to_regclass('graphile_worker._gw_history_' || to_char(now() - interval '1 day', 'YYYYMMDD')), null,
  'the partition of yesterday exists');
select tidy();
select is(to_regclass('graphile_worker._gw_history_' || to_char(now() - interval '1 day', 'YYYYMMDD')), null,
  'the partition of yesterday is dropped after its day');
select is((select count(*) from _gw_history where task = 'task'), 2::bigint, 'the other partitions keep their records');

select * from finish();
rollback;
