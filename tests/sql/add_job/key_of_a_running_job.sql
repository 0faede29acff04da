-- A running job whose key is taken over keeps its row and its lock, but loses the key and cannot run again; a new job
-- is added.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', job_key => 'key');
create temp table running as select * from get_job('worker');
create temp table added as select * from add_job('task', '{"n": 2}', job_key => 'key');

select results_eq(
  $$ select a.id <> r.id, a.key, a.payload::text, a.attempts, a.revision, a.is_available from added as a, running as r $$,
  $$ values (true, 'key', '{"n": 2}', 0::smallint, 0, true) $$,
  'the new job has a row of its own');
select results_eq(
  $$ select j.key, j.locked_by, j.attempts, j.max_attempts, j.is_available
       from _private_jobs as j
      where j.id = (select r.id from running as r) $$,
  $$ values (null::text, 'worker', 26::smallint, 25::smallint, false) $$,
  'the running job has no key and one attempt more than it may have');

select is(
  (add_job('task', '{"n": 3}', job_key => 'key', job_key_mode => 'preserve_run_at')).id,
  (select id from added),
  'the next call replaces the waiting job');

-- Node refunds without looking at more than the owner: one attempt less.
update _private_jobs set attempts = attempts - 1, locked_at = null, locked_by = null where id = (select id from running);
select is(
  (select array_agg(id) from get_job_batch('worker', batch_size => 10)),
  (select array[id] from added),
  'the running job is not claimed again after a refund by Node');
select ok(complete_job('worker', (select id from added)), 'the new job can be completed');

select * from finish();
rollback;
