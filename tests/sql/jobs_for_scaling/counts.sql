-- jobs_for_scaling() counts the due and the running jobs, up to a limit.
begin;
select plan(11);
set local search_path = graphile_worker, public;

select is(jobs_for_scaling(), 0::bigint, 'an empty queue has no jobs to scale for');

select add_job('mail', priority => p) from generate_series(1, 3) as p;
select add_job('mail', queue_name => 'queue', priority => p) from generate_series(1, 2) as p;
select add_job('mail', run_at => now() + interval '1 hour', priority => -1) from generate_series(1, 4);
select add_job('mail', run_at => now() + interval '1 hour') from generate_series(1, 4);
select is(jobs_for_scaling(), 5::bigint, 'due jobs of any priority and queue count, jobs that are not due do not');

select get_job('worker', '{mail}');
select is(jobs_for_scaling(), 5::bigint, 'a running job counts');
select add_job('report');
select get_job_batch('worker', '{report}', 1);
select is(jobs_for_scaling(), 6::bigint, 'a job that was claimed alone counts');

update _private_jobs set attempts = max_attempts, locked_at = null where run_at <= now() and priority = 3;
select is(jobs_for_scaling(), 5::bigint, 'a permanently failed job does not count');

select is(jobs_for_scaling('{report}'), 1::bigint, 'only the jobs of the given task count');
select is(jobs_for_scaling('{mail, report}'), 5::bigint, 'only the jobs of the two given tasks count');
select is(jobs_for_scaling('{unknown}'), 0::bigint, 'a task without jobs counts none');
select is(jobs_for_scaling(most => 3), 3::bigint, 'no more jobs are counted than asked for');

select set_limit('one', tasks => '{limited}', by => 'payload:tenant', max_running => 1);
select add_job('limited', '{"tenant": 1}') from generate_series(1, 3);
select is(jobs_for_scaling('{limited}'), 3::bigint, 'jobs of a limited task count');
select count(*) from get_job_batch('worker', '{limited}', 9);
select is(jobs_for_scaling('{limited}'), 3::bigint, 'jobs of a limited task count whether they run or wait');

select * from finish();
rollback;
