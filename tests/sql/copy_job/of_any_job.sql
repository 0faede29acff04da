-- A copy of a job has what the job was added with, but its key.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select is(copy_job(1), null, 'copy_job() returns null for a job that does not exist');
select add_job('report', '{"a": 1.10}', 'q', now() + interval '1 day', 3, 'k', 7, '{f,g}');
select isnt(copy_job((select max(id) from jobs)), null, 'copy_job() returns the id of the copy of a job');
select results_eq(
  $$ select j.task_identifier, j.queue_name, j.max_attempts::int, j.priority::int, j.flags, j.key, j.run_at = now() from jobs as j order by j.id desc limit 1 $$,
  $$ values ('report', 'q', 3, 7, '{"f": true, "g": true}'::jsonb, null::text, true) $$,
  'the copy has the options of the job, and is due now');
select is((select string_agg(payload::text, ' ') from _private_jobs), '{"a": 1.10} {"a": 1.10}',
  'the copy has the payload as it is stored');
select results_eq(
  $$ select act, jobs, subject, job_ids from list_audit(max_rows => 1) $$,
  $$ select 'copy', 1::bigint, 'job ' || min(id), array[max(id)] from _private_jobs $$,
  'the audit shows the call of copy_job()');

select set_limit('limit', '{limited}', max_running => 2);
select copy_job((add_job('limited')).id);
select is((select count(*) from _private_jobs where job_queue_id = -1), 2::bigint, 'the copy of a limited job is limited');

select count(*) from get_job_batch('worker', batch_size => 2);
select permanently_fail_jobs(array(select id from jobs where key = 'k'), 'no');
select isnt(copy_job((select id from jobs where locked_at is not null limit 1)), null, 'a running job can be copied');
select isnt(copy_job((select id from jobs where key = 'k')), null, 'a failed job can be copied');

select * from finish();
rollback;
