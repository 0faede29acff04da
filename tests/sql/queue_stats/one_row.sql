-- queue_stats() returns one row about the queue. tests/go checks that its counters change, because they only count
-- committed jobs.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select ready, scheduled, running, failed, is_estimate, oldest_ready_seconds, longest_running_seconds, workers from queue_stats() $$,
  $$ values (0::bigint, 0::bigint, 0::bigint, 0::bigint, false, null::float8, null::float8, 0::bigint) $$,
  'an empty queue has no jobs, no ages and no workers');
select add_job('t', run_at => now() - interval '90 seconds'), add_job('t', run_at => now() + interval '1 hour'),
       add_job('t', job_key => 'running'), add_job('t', job_key => 'running, too'), add_job('t', job_key => 'failed');
update _private_jobs set locked_at = now() - interval '2 seconds', locked_by = 'w' where key = 'running';
update _private_jobs set locked_at = now() - interval '3 seconds', locked_by = 'w' where key = 'running, too';
update _private_jobs set attempts = max_attempts where key = 'failed';
select register_worker('w'), register_worker('gone');
update _gw_workers set last_seen_at = now() - interval '6 minutes' where id = 'gone';
select results_eq(
  $$ select ready, scheduled, running, failed, is_estimate, oldest_ready_seconds, longest_running_seconds, workers from queue_stats() $$,
  $$ values (1::bigint, 1::bigint, 2::bigint, 1::bigint, false, 90::float8, 3::float8, 1::bigint) $$,
  'jobs of each state, ages and workers that were seen are returned');
select ok((select added >= 0 and gone >= 0 from queue_stats()), 'the two counters are returned');

select * from finish();
rollback;
