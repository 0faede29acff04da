-- held_by_workers() returns what each of the given workers holds.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select register_worker('idle'), register_worker('busy');
select add_job('t', queue_name => 'q' || n % 2) from generate_series(1, 3) as n;
select add_job('t');
select count(*) from get_job_batch('busy', batch_size => 2);
select count(*) from get_job_batch('node', batch_size => 1);
select results_eq(
  $$ select worker_id, jobs, queues, is_registered, last_seen_at is not null from held_by_workers('{nobody,node,idle,busy,busy,null}') $$,
  $$ values ('busy', 2::bigint, 2::bigint, true, true), ('idle', 0, 0, true, true), ('nobody', 0, 0, false, false),
            ('node', 1, 0, false, false) $$,
  'each worker has one row');
select is((select sum(h.jobs) from held_by_workers('{busy,node}') as h), (select count(*)::numeric from jobs where locked_at is not null),
  'the workers hold as many jobs as are claimed');
select is_empty($$ select from held_by_workers(null) $$, 'no rows are returned for a null array');

select * from finish();
rollback;
