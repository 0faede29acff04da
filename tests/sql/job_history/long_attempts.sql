-- An attempt that lasts so long that its lock is renewed began when it was claimed.
begin;
select plan(2);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../history.psql
select keep_task('task', '1 day');

select add_job('task'), add_job('task');
select count(*) from get_job_batch('w', null, 2);
update _private_jobs set locked_at = now() - interval '3 hours';
select count(*) from renew_leases('w', '{1,2}', array(select _gw_lease(locked_at) from _private_jobs order by id));
update _private_jobs set locked_at = now() - interval '2 hours';
update _gw_long_attempts set locked_at = now() - interval '2 hours';
select count(*) from renew_leases('w', '{1,2}', array(select _gw_lease(locked_at) from _private_jobs order by id));
select complete_job('w', 1), fail_job('w', 2, 'no');
select is(extract(epoch from h.ended_at - h.started_at)::integer / 60, 180, 'job ' || n) from generate_series(1, 2) as n cross join lateral job_history(n) as h;

select * from finish();
rollback;
