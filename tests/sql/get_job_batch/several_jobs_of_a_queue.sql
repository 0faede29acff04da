-- With queue_batch a claim takes several jobs of a named queue, in order; the first jobs of all queues and the jobs without a queue
-- come first.
begin;
select plan(12);
set local search_path = graphile_worker, public;

create function pg_temp.claim(batch_size integer, queue_batch integer) returns setof text language sql as $$
  select b.payload #>> '{}' from graphile_worker.get_job_batch('worker', batch_size => batch_size, queue_batch => queue_batch) as b
$$;
create function pg_temp.free() returns void language sql as $$ select graphile_worker.force_unlock_workers('{worker}') $$;
select count(*) from add_jobs(array(select row('task', to_json('a' || n), 'a', null, null, null, null, null)::job_spec
                                      from generate_series(1, 300) as n));
select add_job('task', '"b1"', 'b'), add_job('task', '"plain"'), add_job('task', '"b2"', 'b'), add_job('task', '"c1"', 'c');

select results_eq($$ select pg_temp.claim(9, 1) $$, array['a1', 'b1', 'plain', 'c1'],
  'a claim takes one job of a queue by default');
select pg_temp.free();
select results_eq($$ select pg_temp.claim(9, 3) $$, array['a1', 'a2', 'a3', 'b1', 'plain', 'b2', 'c1'],
  'a claim takes three jobs of each queue with a queue_batch of 3');
select is((select locked_at from _private_job_queues where queue_name = 'c'), max(locked_at),
  'a queue of which one job is claimed has its locked_at')
  from _private_jobs;
select is(max(locked_at) - (select locked_at from _private_job_queues where queue_name = 'a'), interval '2 microseconds',
  'the locked_at of a queue counts its further jobs in microseconds')
  from _private_jobs;
select is_empty($$ select pg_temp.claim(9, 3) $$, 'no job is claimed of a queue that is busy');
select pg_temp.free();
select results_eq($$ select pg_temp.claim(4, 3) $$, array['a1', 'b1', 'plain', 'c1'],
  'the first jobs of queues and jobs without one come first in a full batch');
select pg_temp.free();
select results_eq($$ select pg_temp.claim(6, 3) $$, array['a1', 'a2', 'a3', 'b1', 'plain', 'c1'],
  'the first queue gets the room that is left in the batch');
select pg_temp.free();
select is((select array_agg(p order by right(p, -1)::integer) from pg_temp.claim(1000, 200) as p where p like 'a%'),
          array(select 'a' || n from generate_series(1, 200) as n), 'a claim takes many jobs of a queue in order');
select pg_temp.free();
select is((select count(*) from pg_temp.claim(1000, 100000)), 304::bigint,
  'a claim takes all jobs if queue_batch is larger');
select pg_temp.free();
select results_eq($$ select pg_temp.claim(1, 5) $$, array['a1'],
  'a batch of one job takes the head job of the first queue');
select throws_ok($$ select pg_temp.claim(9, 0) $$, 'GWWBS', 'Queue batch must be at least 1, not 0.',
  'a queue_batch of 0 is refused');
select throws_ok($$ select pg_temp.claim(9, null) $$, 'GWWBS', 'Queue batch must be at least 1, not null.',
  'a queue_batch that is null is refused');

select * from finish();
rollback;
