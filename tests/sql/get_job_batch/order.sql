-- A batch contains the first jobs by priority, run_at and id, in this order, with and without a queue; of each queue
-- only the first job.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task', '3', priority => 0, run_at => now() - interval '1 hour'),
       add_job('task', '4', 'b', priority => 0, run_at => now() - interval '1 hour'),
       add_job('task', '5', priority => 0, run_at => now() - interval '1 minute'),
       add_job('task', '6', 'c', priority => 7, run_at => now() - interval '1 day'),
       add_job('task', '"behind 4"', 'b', priority => 1, run_at => now() - interval '1 day'),
       add_job('task', '1', 'd', priority => -3, run_at => now()),
       add_job('task', '2', 'e', priority => 0, run_at => now() - interval '2 hours'),
       add_job('task', '"behind 1"', 'd', priority => -3, run_at => now()),
       add_job('task', '7', priority => 7, run_at => now() - interval '23 hours');

select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 3) $$,
  array['1', '2', '3'],
  'a batch of three has the first three jobs in order');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 3) $$,
  array['4', '5', '6'],
  'the next batch has the next three jobs in order');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 100) $$,
  array['7'],
  'the next batch has the remaining jobs, except those of busy queues');
select is_empty($$ select id from get_job_batch('worker', batch_size => 100) $$, 'the jobs of busy queues wait');

select * from finish();
rollback;
