-- retry_jobs() makes jobs due now, restores the attempts of failed ones, and skips running and replaced ones.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k, max_attempts => 3, run_at => now() + interval '1 hour')
  from unnest(array['failed', 'retrying', 'ready', 'running', 'expired', 'retired', 'other']) as k;
update _private_jobs set attempts = case key when 'failed' then 3 when 'retired' then 4 else 1 end,
       run_at = case when key = 'ready' then now() - interval '1 minute' else run_at end, last_error = 'oh',
       updated_at = now() - interval '1 minute';
update _private_jobs set locked_at = now() - case key when 'expired' then interval '5 hours' else '0' end, locked_by = 'w'
 where key in ('running', 'expired');

create temp table retried as
select * from retry_jobs(array(select id from _private_jobs where key <> 'other') || 0::bigint || null::bigint);
select set_eq($$ select key from retried $$, array['failed', 'retrying', 'ready'],
  'retry_jobs() returns the jobs that it has changed');
select results_eq(
  $$ select key, attempts::int, now() - run_at, last_error, updated_at = now() from _private_jobs order by key $$,
  $$ values ('expired', 1, interval '-1 hour', 'oh', false), ('failed', 0, '0', 'oh', true),
            ('other', 1, '-1 hour', 'oh', false), ('ready', 1, '1 minute', 'oh', true), ('retired', 4, '-1 hour', 'oh', false),
            ('retrying', 1, '0', 'oh', true), ('running', 1, '-1 hour', 'oh', false) $$,
  'retried jobs are due; only the failed one gets its attempts back; other jobs do not change');
select is((select count(*)::int from get_job_batch('w', batch_size => 10)), 3, 'the retried jobs can be claimed');
select is_empty($$ select id from retry_jobs('{}') $$, 'an empty array retries nothing');
select is_empty($$ select id from retry_jobs(null) $$, 'retry_jobs(null) retries nothing');

select * from finish();
rollback;
