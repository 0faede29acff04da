-- job_key_preserve_run_at keeps the run_at of jobs that wait for their first attempt, for all keys of the call.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create function pg_temp.specs(run_in interval)
  returns job_spec[]
  language sql
as $$
  select array[row('task', null, null, now() + run_in, null, 'one', null, null)::job_spec,
               row('task', null, null, now() + run_in, null, 'two', null, null)::job_spec]
$$;

select add_jobs(pg_temp.specs('1 hour'));
select results_eq(
  $$ select run_at, revision from add_jobs(pg_temp.specs('2 hours'), true) $$,
  $$ values (now() + interval '1 hour', 1), (now() + interval '1 hour', 1) $$,
  'job_key_preserve_run_at keeps the run_at of waiting jobs');

update _private_jobs set attempts = 1 where key = 'two';
select results_eq(
  $$ select run_at, attempts from add_jobs(pg_temp.specs('3 hours'), true) $$,
  $$ values (now() + interval '1 hour', 0::smallint), (now() + interval '3 hours', 0::smallint) $$,
  'job_key_preserve_run_at does not keep the run_at of a job that has failed before');

select results_eq(
  $$ select run_at from add_jobs(pg_temp.specs('4 hours')) $$,
  $$ values (now() + interval '4 hours'), (now() + interval '4 hours') $$,
  'add_jobs replaces the run_at by default');

select * from finish();
rollback;
