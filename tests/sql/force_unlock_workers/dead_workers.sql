-- force_unlock_workers frees the jobs and queues of the given workers; the attempt counts, times do not change.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => 'a', job_key => 'a'),
       add_job('task', job_key => 'b'),
       add_job('task', queue_name => 'c', job_key => 'c');
create temp table claimed as
select * from get_job('dead') union all select * from get_job('dead') union all select * from get_job('alive');
update _private_jobs set run_at = now() - interval '1 hour', updated_at = now() - interval '1 day';

select lives_ok($$ select force_unlock_workers(array['dead', 'unknown']) $$, 'an unknown worker is not refused');
select set_eq(
  $$ select key, locked_by, attempts, run_at, updated_at, is_available from _private_jobs $$,
  $$ values ('a', null,    1::smallint, now() - interval '1 hour', now() - interval '1 day', true),
            ('b', null,    1::smallint, now() - interval '1 hour', now() - interval '1 day', true),
            ('c', 'alive', 1::smallint, now() - interval '1 hour', now() - interval '1 day', false) $$,
  'the jobs of the given workers are free, with their attempt counted');
select set_eq(
  $$ select queue_name, locked_by, is_available from _private_job_queues $$,
  $$ values ('a', null, true), ('c', 'alive', false) $$,
  'the queues of the given workers are free');
select is_empty(
  $$ select id from complete_job_batch('dead', array(select id from claimed), array(select lease from claimed)) as c (id) $$,
  'the unlocked worker can no longer report outcomes');
select results_eq(
  $$ select key, attempts from get_job_batch('next', batch_size => 9) $$,
  $$ values ('a', 2::smallint), ('b', 2::smallint) $$,
  'the unlocked jobs can be claimed again');

select * from finish();
rollback;
