-- A long backlog of a busy queue hides neither the first jobs of other queues nor jobs without a queue, which are
-- claimed in order.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select row('task', to_json(n), 'busy', null, null, null, (-1)::smallint, null)::job_spec
                                      from generate_series(1, 300) as n));
select add_job('task', '"a2"', 'a', priority => 2), add_job('task', '"b1"', 'b', priority => 1),
       add_job('task', '"plain 3"', priority => 3), add_job('task', '"c4"', 'c', priority => 4),
       add_job('task', '"a5"', 'a', priority => 5), add_job('task', '"plain 6"', priority => 6);

select is((select payload::text from get_job('worker')), '1',
  'the head of the queue with the backlog is claimed first');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 1) $$,
  array['"b1"'],
  'the most urgent head of another queue is claimed behind the backlog');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 2) $$,
  array['"a2"', '"plain 3"'],
  'heads of queues and jobs without a queue are claimed by priority');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 9) $$,
  array['"c4"', '"plain 6"'],
  'no job of a busy queue is claimed');

select * from finish();
rollback;
