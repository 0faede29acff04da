-- Ends at the bounds of what they take.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select is(_gw_queue_locked_at(now() - interval '1000 us', now(), 1), now() - interval '999 us',
  'the end of one of a thousand jobs adds a microsecond to the locked_at of their queue');
select is(_gw_queue_locked_at(now() - interval '1001 us', now(), 1), null,
  'a queue whose lock is more than 1000 us before the job''s is not of its claim');
select is(_gw_queue_locked_at(now(), now(), 0), now(), 'a queue whose only job has not ended keeps its locked_at');
select is(_gw_queue_locked_at(now(), now(), 1), null, 'a queue whose only job has ended is free');
select is(_gw_retry_at('294000-01-01 00:00:00Z', 1), '294000-01-01 00:00:02.718282Z',
  'a back-off is added to times up to 294000');
select is(_gw_retry_at('294000-01-01 00:00:00.000001Z', 1), '294000-01-01 00:00:00.000001Z',
  'a back-off is not added to times after 294000');

select add_job('task');
update _private_jobs set job_queue_id = 0, locked_at = now(), locked_by = 'worker';
select fail_job('worker', id, 'failed', retry_in => interval '0') from _private_jobs;
select is((select job_queue_id from _private_jobs), 0, 'a job_queue_id of 0 stays when its job is freed');
select is(_gw_unheld(0, 1), 0, 'a job_queue_id of 0 stays whoever frees the job');

select * from finish();
rollback;
