-- Every way in which an attempt or a job ends is recorded.
begin;
select plan(26);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../keeper.psql
\ir ../history.psql
select keep_task('task', '30 days');

-- Completions, by each function.
select add_job('task') from generate_series(1, 6);
select count(*) from get_job_batch('w', null, 6);
select complete_job('w', 1);
select count(*) from complete_job_batch('w', '{2}');
select _gw_complete_claim('w', '{3}', (select _gw_lease(locked_at) from _private_jobs where id = 3));
select _gw_complete_claim('w', '{4}', null);
select _gw_complete_all('w', '{5}', array[(select _gw_lease(locked_at) from _private_jobs where id = 5)]);
delete from _private_jobs where id = 6; -- as Node's worker does
select is(pg_temp.lines(n), '1 completed w', 'completion ' || n) from generate_series(1, 6) as n;

-- Failures.
select add_job('task', max_attempts => 2); -- 7
select fail_job('w', pg_temp.claim('w'), E'no such host\nat line 1');
select is(pg_temp.lines(7), '1 failed w (no such host)',
  'a failed attempt is recorded with the first line of its error');
select retry_jobs('{7}');
select fail_job('w', pg_temp.claim('w'), 'again');
select is(pg_temp.lines(7), '1 failed w (no such host), 2 permanently_failed w (again)',
  'the failure of the last attempt is recorded as permanent');
select add_job('task'); -- 8
select fail_job_batch('w', json_build_array(json_build_object('id', pg_temp.claim('w'), 'message', 'bad', 'permanent', true)));
select is(pg_temp.lines(8), '1 permanently_failed w (bad)', 'a permanent failure is recorded');

-- Returns.
select add_job('task'); -- 9
select return_job('w', pg_temp.claim('w'));
select return_job('w', pg_temp.claim('w'), run_in => '1 hour');
select is(pg_temp.lines(9), '1 returned w, 1 snoozed w',
  'returned and put off attempts are recorded, and do not count');
select is((select count(*) from complete_jobs('{9}')), 1::bigint, 'an administrator can complete the job');
select is(pg_temp.lines(9), '1 returned w, 1 snoozed w, 0 completed',
  'the completion by an administrator is recorded without an attempt');

-- Recoveries.
select register_worker('mortal');
select add_job('task'), add_job('task', max_attempts => 1); -- 10, 11
select count(*) from get_job_batch('mortal', null, 2);
select pg_temp.kill('mortal');
select pg_temp.beat();
select is(pg_temp.lines(10), '1 recovered mortal (The worker reported no outcome.)',
  'the death of the worker of a job is recorded as recovered');
select is(pg_temp.lines(11), '1 recovered mortal (The worker reported no outcome.)',
  'the death of the worker in the last attempt is recorded as recovered');
select permanently_fail_jobs('{10}', 'enough');
select is(pg_temp.lines(10), '1 recovered mortal (The worker reported no outcome.), 1 permanently_failed (enough)',
  'the failure by an administrator is recorded');
delete from _private_jobs where id in (10, 11);
select add_job('task'); -- 12
select pg_temp.claim('stranger');
update _private_jobs set locked_at = now() - interval '5 hours' where id = 12;
select reset_stale_locks();
select is(pg_temp.lines(12), '1 recovered stranger (The worker reported no outcome.)',
  'the recovery of a job of an unknown worker is recorded');
select pg_temp.claim('stuck');
select force_unlock_workers('{stuck}');
select is(pg_temp.lines(12), '1 recovered stranger (The worker reported no outcome.), 2 recovered stuck (The worker was unlocked by force.)',
  'the unlocking of a worker by force is recorded');

-- Ends by others.
select cancel_jobs('{12}', 'not needed');
select is(split_part(pg_temp.lines(12), '), ', 3), '2 canceled (not needed)',
  'the cancel of a waiting job is recorded');
select add_job('task'); -- 13
select pg_temp.claim('w');
select cancel_jobs('{13}', 'stop');
select fail_job('w', 13, 'stopped');
select is(pg_temp.lines(13), '25 canceled w (stopped)', 'the end of a canceled job that ran is recorded');
select add_job('task', job_key => 'k', max_attempts => 3); -- 14
select pg_temp.claim('w');
select add_job('task', job_key => 'k', max_attempts => 3); -- 15
select return_job('w', 14);
select is(pg_temp.lines(14), '3 replaced w', 'the end of a job that was replaced while it ran is recorded');
select is(pg_temp.lines(15), null, 'the successor of a replaced job has no record');
select add_job('task', '{"n": 1}', job_key => 'k');
select is(pg_temp.lines(15), null, 'the replacement of a waiting job is not recorded');
select remove_job('k');
select is(pg_temp.lines(15), '0 removed', 'the removal of a waiting job is recorded');
select is((select h.key from job_history(15) as h), 'k', 'the record of a removed job has its key');
select cleanup(array['DELETE_PERMAFAILED_JOBS']);
select is(pg_temp.lines(8), '1 permanently_failed w (bad), 25 removed',
  'the removal of a failed job by cleanup() is recorded');

-- A lost lease.
select add_job('task'); -- 16
select pg_temp.claim('w');
select fail_job('w', 16, 'late', 1), complete_job('w', 16, 1), return_job('w', 16, 1), fail_job('other', 16, 'no');
select is(pg_temp.lines(16), null, 'an outcome by a wrong lease or of another worker is not recorded');

select * from finish();
rollback;
