-- A canceled job whose worker has died is failed.
begin;
select plan(4);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('dead');
select add_job('task', job_key => 'canceled', queue_name => 'q'), add_job('task', job_key => 'behind', queue_name => 'q');
create temp table claimed as select * from get_job('dead');
select cancel_jobs(array(select id from claimed), 'wrong customer');
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 1::bigint) $$,
                  'the canceled job of the dead worker is recovered');
select results_eq(
  $$ select job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at), j.attempts = j.max_attempts from _private_jobs as j where j.key = 'canceled' $$,
  $$ values ('failed', true) $$,
  'the canceled job has failed permanently');
select is_empty($$ select job_id from _gw_suspects union all select job_id from _gw_cancels $$,
  'no rows of suspects and canceled jobs are left');
select results_eq($$ select key from get_job('heir') $$, array['behind'], 'the next job of the queue is claimed');

select * from finish();
rollback;
