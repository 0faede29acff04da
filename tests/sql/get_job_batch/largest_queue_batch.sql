-- A claim takes at most 1000 jobs of a named queue, whatever queue_batch is.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select count(*) from (select add_job('task', queue_name => 'q') from generate_series(1, 1010)) as added;
select is(
  (select count(*) from get_job_batch('worker', batch_size => 2000, queue_batch => 2000)), 1000::bigint,
  'a queue_batch of 2000 takes 1000 jobs');

select * from finish();
rollback;
