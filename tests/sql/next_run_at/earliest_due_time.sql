-- The next due time is the earliest run_at after now of a waiting job, whatever its priority or queue.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select is(next_run_at(), null, 'an empty queue has no next due time');
select add_job('task'), add_job('task', run_at => now() - interval '1 hour');
select is(next_run_at(), null, 'jobs that are due have no next due time');

select add_job('task', run_at => now() + interval '3 hours', priority => -5);
select is(next_run_at(), now() + interval '3 hours', 'the next due time is that of the only waiting job');
select add_job('task', run_at => now() + interval '2 hours', priority => 5);
select is(next_run_at(), now() + interval '2 hours',
  'the next due time is that of an earlier job of less urgent priority');
select add_job('task', run_at => now() + interval '1 hour', queue_name => 'queue', priority => 32767);
select is(next_run_at(), now() + interval '1 hour', 'the next due time is that of an earlier job in a queue');
select add_job('task', run_at => now() + interval '1 microsecond', job_key => 'soon', priority => -32768);
select is(next_run_at(), now() + interval '1 microsecond',
  'the next due time is the first one after now, if by a microsecond');

update _private_jobs set locked_at = now(), locked_by = 'worker' where run_at = now() + interval '1 hour';
update _private_jobs set attempts = max_attempts where key = 'soon';
select is(next_run_at(), now() + interval '2 hours', 'running and failed jobs have no next due time');
select is(next_run_at('{}'), null, 'an empty list of tasks has no next due time');

select * from finish();
rollback;
