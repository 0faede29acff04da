-- matching_job_ids() returns the jobs that match all given conditions.
begin;
select plan(19);
set local search_path = graphile_worker, public;

select add_job('mail', job_key => 'ready'), add_job('mail', job_key => 'scheduled', run_at => now() + interval '1 hour'),
       add_job('mail', queue_name => 'q', job_key => 'queued'), add_job('sms', job_key => 'running'),
       add_job('sms', job_key => 'failed'), add_job('sms', queue_name => 'q', job_key => 'old');
update _private_jobs set locked_at = now(), locked_by = 'w' where key = 'running';
update _private_jobs set attempts = max_attempts where key = 'failed';
update _private_jobs set created_at = now() - interval '1 hour' where key = 'old';

create function pg_temp.keys(ids bigint[])
  returns text
  language sql
as $$ select string_agg(j.key, ' ' order by i.number) from unnest(ids) with ordinality as i (id, number) join jobs as j using (id) $$;

select is(pg_temp.keys(array(select matching_job_ids())), 'ready scheduled queued running failed old',
  'all jobs are returned without conditions');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'ready'))), 'ready queued old',
  'ready jobs are returned');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'scheduled'))), 'scheduled',
  'scheduled jobs are returned');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'running'))), 'running', 'running jobs are returned');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'failed'))), 'failed', 'failed jobs are returned');
select is(pg_temp.keys(array(select matching_job_ids(task => 'sms'))), 'running failed old',
  'the jobs of a task are returned');
select is(pg_temp.keys(array(select matching_job_ids(queue => 'q'))), 'queued old', 'the jobs in a queue are returned');
select is(pg_temp.keys(array(select matching_job_ids(job_key => 'failed'))), 'failed',
  'the job under a key is returned');
select is(pg_temp.keys(array(select matching_job_ids(older_than => '1 hour'))), 'old',
  'jobs that were added an hour ago or longer are returned');
select is(pg_temp.keys(array(select matching_job_ids(newer_than => '1 hour'))), 'ready scheduled queued running failed',
  'jobs that were added less than an hour ago are returned');
select is_empty(format($$ select matching_job_ids(older_than => %L) $$, age), 'none is as old as ' || age)
  from unnest(array['178000000 years', '2147483647 days']) as age;
select is(cardinality(array(select matching_job_ids(newer_than => '178000000 years'))), 6,
  'all jobs are newer than the beginning of time');
select is(pg_temp.keys(array(select matching_job_ids(job_ids => array(select id from jobs where key in ('old', 'ready')) || 0::bigint))),
  'ready old', 'jobs among the given ids are returned');
select is(pg_temp.keys(array(select matching_job_ids('ready', 'sms', 'q', 'old', '1 hour'))), 'old',
  'a job that satisfies all conditions is returned');
select is_empty($$ select matching_job_ids('ready', 'sms', 'q', 'queued') $$,
  'a job that does not satisfy one of the conditions is not returned');
select is_empty($$ select matching_job_ids(task => 'unknown') $$, 'no job is found of an unknown task');
select is_empty($$ select matching_job_ids(queue => 'unknown') $$, 'no job is in an unknown queue');
select throws_ok($$ select matching_job_ids(job_state => 'waiting') $$, 'GWIST',
  'There is no state ''waiting''; jobs are ready, scheduled, running or failed.', 'an unknown state is refused');

select * from finish();
rollback;
