-- A failed job that waits for its next attempt is replaced, with all its attempts. A permanently failed one is kept
-- without its key, and the new job is added.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create temp table first as select * from add_job('task', '{"n": 1}', job_key => 'key', max_attempts => 2);
select get_job('worker');
select fail_job('worker', (select id from first), 'no luck');
select results_eq(
  $$ select a.id = f.id, a.attempts, a.last_error, a.run_at, a.payload::text, a.revision
       from add_job('task', '{"n": 2}', job_key => 'key', max_attempts => 2) as a, first as f $$,
  $$ values (true, 0::smallint, null::text, now(), '{"n": 2}', 1) $$,
  'a job that waits after a failure is replaced, without its attempts and error');

update _private_jobs set attempts = max_attempts, last_error = 'gave up';
select results_eq(
  $$ select a.id <> f.id, a.key, a.attempts, a.payload::text, a.revision
       from add_job('task', '{"n": 3}', job_key => 'key') as a, first as f $$,
  $$ values (true, 'key', 0::smallint, '{"n": 3}', 0) $$,
  'a new job is added under the key of a permanently failed one');
select results_eq(
  $$ select j.key, j.attempts, j.max_attempts, j.last_error, j.payload::text
       from _private_jobs as j
      where j.id = (select f.id from first as f) $$,
  $$ values (null::text, 2::smallint, 2::smallint, 'gave up', '{"n": 2}') $$,
  'the permanently failed job stays without its key');

select * from finish();
rollback;
