-- Only a crash while a job was alone counts against it; after the allowed number of crashes it fails permanently.
begin;
select plan(8);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');

select register_worker('w0');
select add_job('task', job_key => 'poison'), add_job('task', job_key => 'neighbour');
select get_job_batch('w0', batch_size => 2);
select pg_temp.kill('w0');
select * from pg_temp.beat() as b (died text[], freed bigint);
select set_eq($$ select crashes from _gw_suspects $$, array[0],
  'the first crash counts against none of the jobs that ran');

select register_worker('w1');
select get_job_alone('w1');
select pg_temp.kill('w1');
select * from pg_temp.beat() as b (died text[], freed bigint);
select results_eq($$ select s.crashes from _gw_suspects as s order by s.job_id $$, array[1, 0],
  'a crash while a job was alone counts against this job only');
select register_worker('w2');
select is((select key from get_job_alone('w2')), 'poison',
  'a suspect is claimed alone again after its first counted crash');
select pg_temp.kill('w2');
select * from pg_temp.beat() as b (died text[], freed bigint);
select register_worker('w3');
select is((select key from get_job_alone('w3')), 'poison',
  'a suspect is claimed alone again after its second counted crash');
select pg_temp.kill('w3');
select * from pg_temp.beat() as b (died text[], freed bigint);
select results_eq(
  $$ select attempts, is_available, split_part(last_error, ' (', 1) from _private_jobs where key = 'poison' $$,
  $$ values (25::smallint, false, 'Probably crashed its workers: 3 died while they ran it alone. Worker w3') $$,
  'a suspect fails permanently with its third counted crash, with the reason');
select is((select key from get_job_alone('w4')), 'neighbour',
  'the job that ran beside the suspect in the first crash is claimed');
select complete_job('w4', id) from _private_jobs where key = 'neighbour';
select is((select count(*) from pg_temp.beat() as b (died text[], freed bigint)), 1::bigint);
select is_empty($$ select job_id from _gw_suspects $$, 'no suspect is left in the end');

select * from finish();
rollback;
