-- list_limits() and list_lanes() return what applies, which jobs run, and why a lane starts no job.
begin;
select plan(10);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select set_limit('all', max_running => 9);
select set_limit('tenants', '{tenant}', by => 'payload:tenant', max_running => 1, total_running => 3);
select set_limit('rated', '{rated}', rate => 2, per => '1 hour');
select add_job('tenant', json_build_object('tenant', n / 2)) from generate_series(2, 7) as n; -- 1, 1, 2, 2, 3, 3
select add_job('tenant', '{}'), add_job('tenant', '{"tenant": 9}', queue_name => 'q');
select results_eq($$ select name, lanes, running, full_lanes, closed_lanes from list_limits() $$,
                  $$ values ('all', 0::bigint, 0::bigint, 0::bigint, 0::bigint), ('rated', 0, 0, 0, 0), ('tenants', 0, 0, 0, 0) $$,
                  'no job is running in any limit before the first claim');
select count(*) from get_job_batch('worker', batch_size => 3);
select results_eq($$ select name, running, full_lanes from list_limits() where name <> 'rated' $$,
                  $$ values ('all', 3::bigint, 0::bigint), ('tenants', 3, 3) $$,
                  'running jobs are counted once by each of their limits');
select results_eq($$ select lane, is_total, max_running, running, job_ids, reason from list_lanes('tenants') where running > 0 $$,
                  $$ values (null::text, true, 3, 3::bigint, '{1,3,5}'::bigint[], 'full'), ('1', false, 1, 1, '{1}', 'full'),
                            ('2', false, 1, 1, '{3}', 'full'), ('3', false, 1, 1, '{5}', 'full') $$,
                            'the lane of all jobs is listed first');
select results_eq($$ select lane from list_lanes('tenants', '1', 2) $$, $$ values ('2'), ('3') $$,
  'a page of lanes begins after the given lane');
select complete_job_batch('worker', '{1,3,5}');
select is_empty($$ select lane from list_lanes('tenants') where reason is not null $$,
  'lanes whose jobs have ended are not full');
select is((select running from list_limits() where name = 'all'), 0::bigint,
  'jobs that have ended are not counted by any limit');
select pause(limit_name => 'tenants', lane => '1', until => '3000-01-01');
select results_eq($$ select lane, until from list_lanes('tenants') where reason = 'paused' $$,
                  $$ values ('1', '3000-01-01'::timestamptz) $$, 'a paused lane is listed as paused');

select delete_all.* from (select count(*) from complete_jobs(array(select id from jobs where task_identifier = 'tenant' and queue_name is null))) as delete_all;
select count(*) from get_job('worker');
select results_eq($$ select lane, job_ids from list_lanes('tenants') where job_ids is not null order by lane nulls first $$,
                  $$ values (null, '{8}'::bigint[]), ('9', '{8}') $$, 'a running job in a queue counts in its lanes');
select add_job('rated') from generate_series(1, 3);
select count(*) from get_job_batch('worker', '{rated}', 9);
select results_eq($$ select lane, rate, burst, running, reason, until > now(), served_at <= clock_timestamp() from list_lanes('rated') $$,
                  $$ values (null::text, 2, 2, 2::bigint, 'rate', true, true) $$,
                  'a lane that has used up its rate is listed with its jobs');
select throws_ok($$ select from list_lanes('rated', max_rows => -1) $$, 'GWILM', null,
  'a negative number of rows is refused');

select * from finish();
rollback;
