-- If the replacement payload is larger than max_payload, the job fails permanently, with that error.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select set_setting('max_payload', '1048576');
select add_job('task', '[1]');
select ok(exists (select from fail_job('worker', id, 'half', lease, replacement_payload => json_build_array(repeat('x', 1048572)))),
  'a replacement payload as large as allowed is accepted')
  from get_job('worker');
update _private_jobs set run_at = now();
select ok(exists (select from fail_job('worker', id, 'half', lease, replacement_payload => json_build_array(repeat('y', 1048573)))),
  'a job with a replacement payload of a byte more fails')
  from get_job('worker');
select results_eq(
  $$ select job_state(run_at, attempts, max_attempts, locked_at), last_error from _private_jobs $$,
  $$ values ('failed', 'The replacement payload has 1048577 bytes, more than max_payload allows, and was not stored. half') $$,
  'the job has failed permanently, with this reason');
select is((select left(payload::text, 3) || length(payload::text) from _private_jobs), '["x1048576',
  'the job keeps its payload');

select * from finish();
rollback;
