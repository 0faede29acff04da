-- A batch returns the jobs that the worker still holds, by the lease of each id; run_in delays all of them.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', to_json(n), case when n > 2 then 'queue' || n end) from generate_series(1, 4) as n;
create temp table claimed as
select id, lease, payload::text::integer as n from get_job_batch('worker', batch_size => 9);
select complete_job('worker', id) from claimed where n = 3;
update claimed set lease = lease + 1 where n = 2;

select set_eq(
  $$ select c.n, d.state, d.run_at, d.attempts, d.max_attempts
       from return_job_batch('worker', array(select c.id from claimed as c order by c.n),
                             array(select c.lease from claimed as c order by c.n), interval '10 minutes') as d
       join claimed as c using (id) $$,
  $$ values (1, 'scheduled', now() + interval '10 minutes', 0::smallint, 25::smallint),
            (4, 'scheduled', now() + interval '10 minutes', 0::smallint, 25::smallint) $$,
  'a completed job and one with a wrong lease are not returned');
select set_eq(
  $$ select payload::text::integer, attempts, run_at, locked_by from _private_jobs $$,
  $$ values (1, 0::smallint, now() + interval '10 minutes', null),
            (2, 1::smallint, now(),                         'worker'),
            (4, 0::smallint, now() + interval '10 minutes', null) $$,
  'the returned jobs are scheduled');
select is((select count(*) from _private_job_queues where is_available), 2::bigint,
  'the queues of the returned jobs are free');

select * from finish();
rollback;
