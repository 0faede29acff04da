-- Queues whose first jobs have to run alone do not hide other queues, however many they are.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => 'q' || n, job_key => 'suspect ' || n) from generate_series(1, 100) as n;
insert into _gw_suspects (job_id, revision) select id, revision from _private_jobs;
select add_job('task', queue_name => 'q' || n, job_key => 'behind ' || n) from generate_series(1, 100) as n;
select add_job('task', queue_name => 'other', job_key => 'other');

select results_eq($$ select key from get_job_batch('worker', batch_size => 2) $$, array['other'], 'a job in another queue is found');
select results_eq($$ select key from get_job_alone('third') $$, array['suspect 1'], 'the others wait for theirs');

select * from finish();
rollback;
