-- list_tasks() returns the number of jobs in each state for each task, and how many workers have it.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('b') from generate_series(1, 2);
select add_job('a', run_at => now() + interval '1 hour'), add_job('a', job_key => 'running'), add_job('a', job_key => 'failed');
select add_job('c', job_key => 'gone');
select remove_job('gone');
update _private_jobs set locked_at = now(), locked_by = 'w' where key = 'running';
update _private_jobs set attempts = max_attempts where key = 'failed';
select register_worker('w', '{a}'), register_worker('any'), register_worker('gone', '{a}');
update _gw_workers set last_seen_at = now() - interval '6 minutes' where id = 'gone';
select results_eq(
  $$ select * from list_tasks() $$,
  $$ values ('a', 0::bigint, 1::bigint, 1::bigint, 1::bigint, 2::bigint, false, 1::float8), ('b', 2, 0, 0, 0, 1, false, 1),
            ('c', 0, 0, 0, 0, 1, false, 1) $$,
  'each task has its jobs, and the workers that have it or say that they have any');
select register_worker('new', '{a,idle,also idle}'), register_worker('gone for long', '{old}');
update _gw_workers set last_seen_at = now() - interval '6 minutes' where id = 'gone for long';
select results_eq(
  $$ select task_identifier, ready + scheduled + running + failed, workers from list_tasks() $$,
  $$ values ('a', 3::bigint, 3::bigint), ('also idle', 0, 2), ('b', 2, 1), ('c', 0, 1), ('idle', 0, 2) $$,
  'tasks that a worker has are listed, even if there was never a job of them');
select results_eq($$ select task_identifier from list_tasks('b', 2) $$, $$ values ('c'), ('idle') $$,
  'tasks with and without jobs are listed in one order');
select deregister_worker('new');
select results_eq($$ select task_identifier from list_tasks(max_rows => 2) $$, $$ values ('a'), ('b') $$,
  'a page begins with the first task');
select results_eq($$ select task_identifier from list_tasks('a') $$, $$ values ('b'), ('c') $$,
  'the next page begins after the given task');
select add_jobs(array(select row('b', null, null, null, null, null, null, null)::job_spec from generate_series(1, 20000))) limit 1;
select ok((select is_estimate and ready between 18500 and 21500 from list_tasks(pages => pg_relation_size('_private_jobs') / 8192 / 4)
            where task_identifier = 'b'), 'the jobs are estimated if only a part of them is read');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
