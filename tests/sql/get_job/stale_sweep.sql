-- If there is no job to claim, get_job frees stale locks and tries again, at most once a minute in the whole fleet.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select register_worker('registered');
update _gw_workers set last_seen_at = now() - interval '1 hour';
select add_job('task', '1', 'queue'), add_job('task', '2');
select get_job_batch('registered', batch_size => 2);
update _private_jobs set locked_at = now() - interval '11 minutes';

-- The sweep has its turn now and finds nothing that is older than four hours.
select is_empty($$ select id from get_job('next') $$, 'a lock younger than four hours is not stale by default');
select is_empty($$ select id from get_job('next', job_expiry => '10 minutes') $$,
  'get_job does not sweep again within the minute');

update _gw_turns set last_at = now() - interval '50 seconds';
select is_empty($$ select id from get_job('next', job_expiry => '10 minutes') $$,
  'get_job does not sweep again after 50 seconds');
update _gw_turns set last_at = now() - interval '60 seconds';
update _private_job_queues set locked_at = now() - interval '11 minutes';
select results_eq(
  $$ select payload::text, attempts from get_job('next', job_expiry => '10 minutes') $$,
  $$ values ('1', 2::smallint) $$,
  'get_job frees the stale locks after a minute, and claims a job');
select results_eq(
  $$ select payload::text from get_job('next', job_expiry => '10 minutes') $$,
  array['2'],
  'the next job is claimed without a sweep');

-- A foreign owner keeps four hours.
update _private_jobs set locked_at = now() - interval '3 hours', locked_by = 'pool-0123456789';
update _gw_turns set last_at = '-infinity';
select is_empty($$ select id from get_job('next', job_expiry => '10 minutes') $$,
                'locks of workers that are not registered are stale after four hours only');

select * from finish();
rollback;
