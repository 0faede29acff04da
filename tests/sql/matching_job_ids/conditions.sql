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

select is(pg_temp.keys(array(select matching_job_ids())), 'ready scheduled queued running failed old', 'without conditions all');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'ready'))), 'ready queued old', 'ready ones');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'scheduled'))), 'scheduled', 'scheduled ones');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'running'))), 'running', 'running ones');
select is(pg_temp.keys(array(select matching_job_ids(job_state => 'failed'))), 'failed', 'failed ones');
select is(pg_temp.keys(array(select matching_job_ids(task => 'sms'))), 'running failed old', 'of a task');
select is(pg_temp.keys(array(select matching_job_ids(queue => 'q'))), 'queued old', 'in a queue');
select is(pg_temp.keys(array(select matching_job_ids(job_key => 'failed'))), 'failed', 'under a key');
select is(pg_temp.keys(array(select matching_job_ids(older_than => '1 hour'))), 'old', 'added an hour ago or longer');
select is(pg_temp.keys(array(select matching_job_ids(newer_than => '1 hour'))), 'ready scheduled queued running failed',
  'added less than an hour ago');
select is_empty(format($$ select matching_job_ids(older_than => %L) $$, age), 'none is as old as ' || age)
  from unnest(array['178000000 years', '2147483647 days']) as age;
select is(cardinality(array(select matching_job_ids(newer_than => '178000000 years'))), 6, 'all are newer');
select is(pg_temp.keys(array(select matching_job_ids(job_ids => array(select id from jobs where key in ('old', 'ready')) || 0::bigint))),
  'ready old', 'among these ids');
select is(pg_temp.keys(array(select matching_job_ids('ready', 'sms', 'q', 'old', '1 hour'))), 'old', 'all conditions together');
select is_empty($$ select matching_job_ids('ready', 'sms', 'q', 'queued') $$, 'one that is not true is enough');
select is_empty($$ select matching_job_ids(task => 'unknown') $$, 'no job is of an unknown task');
select is_empty($$ select matching_job_ids(queue => 'unknown') $$, 'or queue');
select throws_ok($$ select matching_job_ids(job_state => 'waiting') $$, 'GWIST',
  'There is no state ''waiting''; jobs are ready, scheduled, running or failed.', 'a state that is none');

select * from finish();
rollback;
