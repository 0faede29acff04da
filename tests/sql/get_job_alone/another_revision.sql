-- A job that is replaced by its key is no longer a suspect.
begin;
select plan(2);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');

select register_worker('dead');
select add_job('task', '1', job_key => 'key');
select get_job('dead');
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select add_job('task', '2', job_key => 'key', run_at => now());
select results_eq($$ select payload::text from get_job_batch('worker') $$, array['2'],
  'a suspect that is replaced is claimed as any other job');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is_empty($$ select job_id from _gw_suspects $$, 'no suspect is left after a heartbeat');

select * from finish();
rollback;
