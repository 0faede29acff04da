-- queue_depth() returns the number of jobs in each state.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select * from queue_depth() $$,
  $$ values (0::bigint, 0::bigint, 0::bigint, 0::bigint, null::interval, false, 1::float8) $$,
  'an empty queue has no jobs and no oldest one');

select add_job('task', priority => p) from generate_series(1, 3) as p;
select add_job('task', queue_name => 'queue') from generate_series(1, 2);
select add_job('task', run_at => now() + interval '1 hour') from generate_series(1, 4);
select add_job('task', run_at => '-infinity');
select add_job('running', queue_name => 'queue');
select get_job('worker', '{running}');
update _private_jobs set locked_by = 'worker', locked_at = now() where priority = 3;
update _private_jobs set attempts = max_attempts where priority = 2;
select results_eq(
  $$ select ready, scheduled, running, failed, oldest_ready, is_estimate from queue_depth() $$,
  $$ values (4::bigint, 4::bigint, 2::bigint, 1::bigint, interval '0', false) $$, 'the jobs of each state are counted');

update _private_jobs set run_at = now() - interval '1 minute' where priority = 1;
select is((select oldest_ready from queue_depth()), interval '1 minute', 'the oldest ready job may have any priority');
update _private_jobs set run_at = now() - interval '2 minutes' where job_queue_id is not null and locked_at is null;
select is((select oldest_ready from queue_depth()), interval '2 minutes',
  'the oldest ready job may be in a named queue');
update _private_jobs set run_at = now() - interval '3 minutes' where locked_at is not null or attempts >= max_attempts;
select is((select oldest_ready from queue_depth()), interval '2 minutes',
  'running and failed jobs are not the oldest ready ones');
select add_job('task', run_at => now() - interval '4 minutes', priority => 2000);
select is((select oldest_ready from queue_depth()), interval '4 minutes',
  'a scheduled job does not hide the oldest ready one');
select set_limit('one', tasks => '{limited}', by => 'payload:tenant', max_running => 1);
select add_job('limited', '{"tenant": 1}', run_at => now() - n * interval '10 minutes') from generate_series(1, 2) as n;
select is((select oldest_ready from queue_depth()), interval '20 minutes',
  'a limited job at which no claim has looked may be the oldest');
select count(*) from get_job_batch('worker', '{limited}', 9);
select is((select oldest_ready from queue_depth()), interval '10 minutes',
  'a limited job in its lane may be the oldest, one that runs may not');

select * from finish();
rollback;
