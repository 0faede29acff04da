-- A worker does not get a suspect that it cannot run.
begin;
select plan(6);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

select add_job('one', job_key => 'one', flags => '{slow}'), add_job('two', job_key => 'two', priority => 1);
select pg_temp.suspect(id) from jobs;
select is_empty($$ select key from get_job_batch('w1', batch_size => 9) $$, 'ordinary claims leave suspects');
select is((select key from get_job_alone('w1', '{two}')), 'two', 'a worker claims a suspect of its tasks');
select is_empty($$ select key from get_job_alone('w2', '{two}') $$, 'a worker claims no suspect of other tasks');
select is_empty($$ select key from get_job_alone('w2', forbidden_flags => '{slow}') $$,
  'a worker claims no suspect with a forbidden flag');
select is_empty($$ select key from get_job_alone('w2', now => now() - interval '1 second') $$,
  'a worker claims no suspect before its run_at');
select throws_ok($$ select get_job_alone('') $$, 'GWWID', 'Worker id must be 1 to 128 characters long.');

select * from finish();
rollback;
