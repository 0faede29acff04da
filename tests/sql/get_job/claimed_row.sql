-- A claim returns the columns that a worker needs, counts the attempt, and locks the job and its queue with the same lease.
begin;
select plan(5);
set local search_path = graphile_worker, public;

create temp table added as
select * from add_job('task', '{"n": 1}', 'queue', now() - interval '1 hour', 3, 'key', 5, '{a}');
update _private_jobs set updated_at = now() - interval '1 day', last_error = 'no luck', attempts = 1, revision = 4;
create temp table claimed as select * from get_job('worker', '{task}');

select results_eq(
  $$ select c.id = a.id, c.task_identifier, c.payload::text, c.queue_name, c.priority, c.run_at, c.attempts, c.max_attempts,
            c.key, c.flags, c.created_at, c.last_error, c.revision
       from claimed as c, added as a $$,
  $$ values (true, 'task', '{"n": 1}', 'queue', 5::smallint, now() - interval '1 hour', 2::smallint, 3::smallint,
             'key', '{"a": true}'::jsonb, now(), 'no luck', 4) $$,
  'a claim returns all columns of the job, with the attempt that it counts');
select results_eq(
  $$ select j.locked_by, extract(epoch from j.locked_at) * 1000000 = c.lease, j.attempts, j.updated_at
       from _private_jobs as j, claimed as c $$,
  $$ values ('worker', true, 2::smallint, now() - interval '1 day') $$,
  'the lease is locked_at in microseconds; updated_at does not change');
select results_eq(
  $$ select q.locked_by, q.locked_at = j.locked_at, q.is_available from _private_job_queues as q, _private_jobs as j $$,
  $$ values ('worker', true, false) $$,
  'the queue of the claimed job is locked with it');
select ok(
  (select to_timestamp(lease / 1e6) between now() and clock_timestamp() from claimed),
  'the lease has the time of the claim, not of the transaction');
select is_empty($$ select id from get_job('other') $$, 'no other worker can claim a claimed job');

select * from finish();
rollback;
