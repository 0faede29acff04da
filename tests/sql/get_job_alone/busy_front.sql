-- Queues go on past jobs that have to run alone, however many they are.
begin;
select plan(2);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

select add_job('task', queue_name => 'q' || n, job_key => 'suspect ' || n) from generate_series(1, 100) as n;
select pg_temp.suspect(id) from jobs;
select add_job('task', queue_name => 'q' || n, job_key => 'behind ' || n) from generate_series(1, 100) as n;
select add_job('task', queue_name => 'other', job_key => 'other');

select results_eq($$ select key from get_job_batch('worker', batch_size => 2) $$, array['behind 1', 'behind 2'],
  'jobs behind suspects in their queues are claimed');
select results_eq($$ select key from get_job_alone('third') $$, array['suspect 3'],
  'suspects in queues with a running job are not claimed');

select * from finish();
rollback;
