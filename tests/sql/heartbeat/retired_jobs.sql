-- A job that was replaced or removed while its worker died does not run again.
begin;
select plan(3);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('dead');
select add_job('task', '1', job_key => 'replaced'), add_job('task', '2', job_key => 'removed');
create temp table claimed as select * from get_job_batch('dead', batch_size => 9);
select add_job('task', '3', job_key => 'replaced');
select remove_job('removed');
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 2::bigint) $$,
                  'both jobs of the dead worker are recovered');
select is_empty(
  $$ select j.id from _private_jobs as j join claimed as c on c.id = j.id
      where j.is_available or j.locked_at is not null or j.attempts <> j.max_attempts $$,
  'replaced and removed jobs of a dead worker have failed permanently');
select is_empty($$ select job_id from _gw_suspects $$, 'replaced and removed jobs of a dead worker are no suspects');

select * from finish();
rollback;
