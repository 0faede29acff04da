-- A named queue goes on past a job that has to run alone. That starts when the queue is free, and overtakes no job.
begin;
select plan(9);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');

select register_worker('dead');
select add_job('task', job_key => 'first', queue_name => 'q'), add_job('task', job_key => 'second', queue_name => 'q');
select get_job_batch('dead', batch_size => 9);
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
update _private_jobs set run_at = now() - interval '1 minute' where key = 'first';
select add_job('task', job_key => 'elsewhere', queue_name => 'q2');

select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['second', 'elsewhere'],
  'the queue of a suspect continues with its next job');
select add_job('task', job_key => 'urgent', queue_name => 'q', priority => -1);
select is_empty($$ select key from get_job_alone('third') $$, 'the suspect waits while a job of its queue runs');
select complete_job('worker', id) from _private_jobs where key = 'second';
select is_empty($$ select key from get_job_alone('third') $$, 'the suspect waits for a more urgent job of its queue');
select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['urgent'],
  'the more urgent job is claimed by an ordinary claim');
select complete_job('worker', id) from _private_jobs where key = 'urgent';
select results_eq($$ select key, queue_name from get_job_alone('third') $$, $$ values ('first', 'q') $$,
  'the suspect is claimed when its queue is free');
select results_eq($$ select locked_by from _private_job_queues where queue_name = 'q' $$, array['third'],
  'the queue is locked while the suspect runs');
select add_job('task', job_key => 'third', queue_name => 'q');
select is_empty($$ select key from get_job_batch('worker', batch_size => 9) $$,
  'no other job of the queue runs while the suspect runs');
select complete_job('third', id) from _private_jobs where key = 'first';
select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['third'],
  'the next job of the queue is claimed when the suspect has ended');
select is_empty($$ select key from get_job_alone('worker') $$, 'no suspect is left');

select * from finish();
rollback;
