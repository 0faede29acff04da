-- A running job is not deleted: it loses its key and, whatever its outcome, does not run again.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'key');
create temp table running as select * from get_job('worker');
update _private_jobs set updated_at = now() - interval '1 day';

select results_eq(
  $$ select r.id = c.id, r.key, r.attempts, r.max_attempts, r.locked_by, r.updated_at
       from remove_job('key') as r, running as c $$,
  $$ values (true, null::text, 26::smallint, 25::smallint, 'worker', now()) $$,
  'a running job is returned without its key and without attempts left');
select ok(remove_job('key') is null, 'the key of a removed job that runs is free');

select ok(exists (select from return_job('worker', id, lease)),
  'a removed job that runs can be returned by its worker') from running;
select results_eq(
  $$ select attempts, is_available from _private_jobs $$,
  $$ values (25::smallint, false) $$,
  'a removed job that is returned has failed permanently');
select is_empty($$ select id from get_job('worker') $$, 'a removed job that is returned cannot be claimed');

select reschedule_jobs(array[id], attempts => 0) from running;
select is((select id from get_job('worker')), (select id from running),
  'a removed job runs again when an administrator reschedules it');

select * from finish();
rollback;
