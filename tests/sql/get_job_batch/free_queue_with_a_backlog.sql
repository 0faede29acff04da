-- Of a free queue with a long backlog a batch takes the first job, and continues with the jobs after the backlog.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select row('task', to_json(n), 'long', null, null, null, null, null)::job_spec
                                      from generate_series(1, 300) as n));
select add_job('task', '"b"', 'b'), add_job('task', '"plain"'), add_job('task', '"c"', 'c');

select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 9) $$,
  array['1', '"b"', '"plain"', '"c"'],
  'a batch has the head of the queue, other heads and jobs without a queue');

select * from finish();
rollback;
