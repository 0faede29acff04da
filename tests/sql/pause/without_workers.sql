-- A pause and its end move the waiting jobs by themselves: workers of Graphile Worker for Node.js cannot.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('a', '1'), add_job('a', '2', 'queue'), add_job('b', '3', 'queue'), add_job('b', '4');
prepare lot as
  select j.payload #>> '{}' as job, j.job_queue_id > 0 as queued, j.job_queue_id < 0 as hidden from _private_jobs as j order by 1;
prepare as_added as values ('1', null::boolean, null::boolean), ('2', true, false), ('3', true, false), ('4', null, null);

select pause(task => 'a');
select results_eq('lot', $$ values ('1', false, true), ('2', false, true), ('3', true, false), ('4', null::boolean, null::boolean) $$, 'a task');
select resume(task => 'a');
select results_eq('lot', 'as_added', 'and its end');
select pause(queue => 'qu*');
select results_eq('lot', $$ values ('1', null::boolean, null::boolean), ('2', false, true), ('3', false, true), ('4', null, null) $$, 'queues');
select resume(queue => 'qu*');
select results_eq('lot', 'as_added', 'and their end');
select pause(queue => 'nothing'), pause(task => 'nothing');
select results_eq('lot', 'as_added', 'a queue and a task without jobs');
select resume(queue => 'nothing'), resume(task => 'nothing');

-- A running job is left to the workers.
select get_job_batch('w', '{none}') from generate_series(1, 100); -- moves jobs
select is((select count(*) from get_job_batch('w', '{a}')), 1::bigint, 'a job runs');
select pause(task => 'a');
select is((select count(*) from _private_jobs where job_queue_id < 0), 1::bigint, 'the other one is moved');

select add_jobs(array_fill(row('c', null, null, null, null, null, null, null)::job_spec, array[10001]));
select pause(task => 'c');
select is((select array_agg(j.id - (select min(id) from _private_jobs where task_id = j.task_id) order by j.id)
             from _private_jobs as j join _private_tasks as t on t.id = j.task_id where t.identifier = 'c' and j.job_queue_id is null),
          '{10000}', 'ten thousand jobs at most, the first ones');

select * from finish();
rollback;
