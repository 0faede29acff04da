-- Mode replace overwrites everything in a waiting job with the key except its id and creation time, and increments the
-- revision.
begin;
select plan(4);
set local search_path = graphile_worker, public;

create temp table first as
select * from add_job('task', '{"n": 1}', 'queue', now() + interval '1 hour', 3, 'key', 5, '{a}');
update _private_jobs set created_at = now() - interval '1 day', updated_at = now() - interval '1 day';

create temp table second as
select * from add_job('other', '{"n": 2}', 'elsewhere', now() + interval '2 hours', 4, 'key', 6, '{b}');
select results_eq(
  $$ select s.id = f.id, s.payload::text, j.task_identifier, j.queue_name, j.run_at, j.max_attempts, j.priority, j.flags,
            j.revision, j.created_at, j.updated_at
       from first as f, second as s
       join jobs as j on j.id = s.id $$,
  $$ values (true, '{"n": 2}', 'other', 'elsewhere', now() + interval '2 hours', 4::smallint, 6::smallint, '{"b": true}'::jsonb,
             1, now() - interval '1 day', now()) $$,
  'the row stays and holds the new values');

select results_eq(
  $$ select r.payload::text, r.job_queue_id, r.run_at, r.max_attempts, r.priority, r.flags, r.revision
       from add_job('task', job_key => 'key') as r $$,
  $$ values ('{}', null::integer, now(), 25::smallint, 0::smallint, null::jsonb, 2) $$,
  'arguments that the second call omits get their defaults, not the old values');

select is((add_job('task', job_key => 'key', job_key_mode => null)).revision, 3,
  'a mode that is null replaces the job');
select is((select count(*) from _private_jobs), 1::bigint, 'all calls with the key have one job');

select * from finish();
rollback;
