-- A running job may have max_attempts 32767, which cannot be exceeded: then max_attempts is lowered instead.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'key', max_attempts => 32767);
create temp table running as select * from get_job('worker');
select isnt((add_job('task', job_key => 'key', run_at => now() + interval '1 hour')).id, (select id from running),
            'a new job takes over the key of the running one');
select results_eq(
  $$ select j.attempts, j.max_attempts from _private_jobs as j where j.id = (select r.id from running as r) $$,
  $$ values (32767::smallint, 32766::smallint) $$,
  'the running job has one attempt more than its maximum');
select return_job('worker', (select id from running));
select is_empty($$ select id from get_job('worker') $$, 'a replaced job that is returned is not claimed again');

select * from finish();
rollback;
