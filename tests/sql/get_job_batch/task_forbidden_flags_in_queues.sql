-- In a named queue a job with a forbidden flag of its task is skipped like any other that the worker cannot run; the
-- order of the others is kept, within the queue and among all jobs.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('one', '"left 1"', 'q', flags => '{a}'),
       add_job('two', '1', 'q', flags => '{a}'),
       add_job('two', '5', 'q'),
       add_job('one', '"left 2"', flags => '{b,a}', priority => -1),
       add_job('one', '2', flags => '{b}'),
       add_job('one', '3', 'r', flags => '{b}'),
       add_job('one', '"left 3"', 's', flags => '{a}'),
       add_job('one', '4');
create function pg_temp.claim(batch_size integer, task_flags json)
  returns setof text
  language sql
as $$
  select b.payload::text from graphile_worker.get_job_batch('worker', batch_size => batch_size, task_forbidden_flags => task_flags) as b
$$;

select results_eq($$ select pg_temp.claim(3, '{"one": ["a"]}') $$, array['1', '2', '3'],
  'a batch has the first jobs without the forbidden flag in order');
select is((select count(*) from _private_job_queues where locked_at is not null), 2::bigint,
  'the queues of the claimed jobs are locked');
select results_eq($$ select pg_temp.claim(9, '{"one": ["a"]}') $$, array['4'],
  'the next batch has the remaining jobs, except those of the busy queues');
select complete_job('worker', id) from _private_jobs where payload::text = '1';
select results_eq($$ select pg_temp.claim(9, '{"one": ["a"]}') $$, array['5'],
  'the next job of the queue is claimed when the queue is free');
select is_empty($$ select pg_temp.claim(9, '{"one": ["a"]}') $$, 'no job is claimed that has the forbidden flag');
select complete_job('worker', id) from _private_jobs where payload::text = '5';
select results_eq($$ select pg_temp.claim(9, '{"two": ["a"], "one": ["b"]}') $$, array['"left 1"', '"left 3"'],
                  'jobs in two queues are claimed when another flag of their task is forbidden');
select results_eq($$ select pg_temp.claim(9, '{}') $$, array['"left 2"'],
  'the last job is claimed when no flag is forbidden');

select add_job('one', '"left 4"', 't', flags => '{a}'), add_job('two', '6', 'u'), add_job('two', '7');
select results_eq($$ select pg_temp.claim(1, '{"one": ["a"]}') $$, array['6'], 'a queue with nothing to take takes no place in the batch');

select * from finish();
rollback;
