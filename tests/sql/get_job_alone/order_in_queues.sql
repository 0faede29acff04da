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

select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['second', 'elsewhere'], 'the queue goes on past it');
select add_job('task', job_key => 'urgent', queue_name => 'q', priority => -1);
select is_empty($$ select key from get_job_alone('third') $$, 'while a job of the queue runs, it waits');
select complete_job('worker', id) from _private_jobs where key = 'second';
select is_empty($$ select key from get_job_alone('third') $$, 'it waits for a more urgent one');
select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['urgent'], 'which is claimed as ever');
select complete_job('worker', id) from _private_jobs where key = 'urgent';
select results_eq($$ select key, queue_name from get_job_alone('third') $$, $$ values ('first', 'q') $$, 'then it is its turn');
select results_eq($$ select locked_by from _private_job_queues where queue_name = 'q' $$, array['third'], 'and its queue is busy');
select add_job('task', job_key => 'third', queue_name => 'q');
select is_empty($$ select key from get_job_batch('worker', batch_size => 9) $$, 'so that no other job of it runs');
select complete_job('third', id) from _private_jobs where key = 'first';
select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['third'], 'until it is done');
select is_empty($$ select key from get_job_alone('worker') $$, 'no such job is left');

select * from finish();
rollback;
