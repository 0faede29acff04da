-- The allowed number of crashes of a job is a setting.
begin;
select plan(2);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');

select set_setting('crashes_allowed', '1');
select register_worker('w0');
select add_job('task');
select get_job('w0');
select pg_temp.kill('w0');
select * from pg_temp.beat() as b (died text[], freed bigint);
select ok(is_available, 'a crash does not count if the job was not known as a suspect') from _private_jobs;
select register_worker('w1');
select get_job_alone('w1');
select pg_temp.kill('w1');
select * from pg_temp.beat() as b (died text[], freed bigint);
select ok(not is_available, 'a job fails permanently when it has crashed as often as is allowed') from _private_jobs;

select * from finish();
rollback;
