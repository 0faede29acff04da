-- A partly completed job can be failed with a payload of the remaining work.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', '[1, 2, 3]');
select fail_job('worker', id, 'half', retry_in => '0', replacement_payload => '[3]') from get_job('worker');
select is((select payload::text from _private_jobs), '[3]', 'the payload is replaced, not merged');
select fail_job('worker', id, 'again', retry_in => '0') from get_job('worker');
select is((select payload::text from _private_jobs), '[3]', 'a failure without a payload keeps that of the job');
select is((select revision from _private_jobs), 0, 'a new payload of a failed job is not a new revision');

select * from finish();
rollback;
