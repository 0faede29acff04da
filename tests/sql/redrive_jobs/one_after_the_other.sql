-- Jobs become due one after the other, in the order of the list, with their attempts restored.
begin;
select plan(8);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('task', run_at => '2030-01-01') from generate_series(1, 5);
update _private_jobs set attempts = 25, last_error = 'down' where id <= 3;
update _private_jobs set attempts = 2 where id = 4;
update _private_jobs set locked_at = now(), locked_by = 'worker' where id = 5;

select results_eq(
  $$ select id, run_at - now(), attempts::integer from redrive_jobs('{3,1,9,2,5,4,3}', '10 s') order by run_at $$,
  $$ values (3::bigint, interval '0', 0), (1, '10 s', 0), (2, '30 s', 0), (4, '50 s', 2) $$,
  'the jobs become due in the order of the list, with their attempts restored');
select is(run_at, '2030-01-01', 'the run_at of a running job does not change') from _private_jobs where id = 5;
select results_eq(
  $$ select id, run_at from redrive_jobs('{1,2}', '1 day', '2040-01-01') order by id $$,
  $$ values (1::bigint, timestamptz '2040-01-01'), (2, '2040-01-02') $$, 'the jobs become due from the given time on');
select results_eq($$ select id, run_at from redrive_jobs('{1,2}', '0', null) order by id $$, $$ values (1::bigint, now()), (2, now()) $$,
  'all jobs become due at once with an interval of zero');
select results_eq($$ select act, jobs from list_audit() order by id limit 1 $$, $$ values ('retry', 4::bigint) $$,
  'the call is recorded in the audit');
select throws_ok($$ select redrive_jobs('{1}', null) $$, 'GWOIV', 'The argument apart is null; it must be at least 0, and at most 1000 years.',
  'an interval that is null is refused');
select throws_ok($$ select redrive_jobs('{1}', '-1 s') $$, 'GWOIV', null, 'a negative interval is refused');
select is_empty($$ select * from redrive_jobs(null, '1 s') $$, 'a null array makes no jobs due');

select * from finish();
rollback;
