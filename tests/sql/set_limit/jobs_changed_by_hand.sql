-- A heartbeat finds jobs with limits that were changed by hand and come before those that claims know of.
begin;
select plan(4);
set local search_path = graphile_worker, public;

create function pg_temp.claimed() returns text as $body$
  select string_agg(b.key, ' ') from get_job_batch('worker', now => clock_timestamp()) as b
$body$ language sql;

select register_worker('worker');
select set_limit('mail', tasks => '{mail}', max_running => 10);
select get_job_batch('worker') from generate_series(1, 9);
select add_job('mail', job_key => n, run_at => now() - interval '9 minutes' + n::integer * interval '1 minute') from unnest(array['1', '2', '3']) as n;
select add_job('mail', job_key => n, run_at => now() + n::integer * interval '1 day') from unnest(array['4', '5']) as n;

select is(pg_temp.claimed(), '1', 'the first due job is claimed first');
update _private_jobs set run_at = now() - interval '1 day' where key = '4';
update _private_jobs set priority = -5, run_at = now() - interval '1 hour' where key = '3';
select heartbeat('worker');
select is(pg_temp.claimed(), '3', 'a heartbeat finds a job whose priority was changed by hand');
select heartbeat('worker');
select is(pg_temp.claimed(), '4', 'a heartbeat finds a job whose run_at was changed by hand');
select is(pg_temp.claimed(), '2', 'the job that was not changed is claimed last');

select * from finish();
rollback;
