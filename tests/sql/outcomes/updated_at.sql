-- updated_at is the time of the last change by a producer or an administrator; claims and outcomes do not change it.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k) from unnest(array['running', 'failed', 'returned', 'reset', 'unlocked']) as k;
update _private_jobs set updated_at = now() - interval '1 day';
create temp table claimed as select * from get_job_batch('worker', batch_size => 9);
select fail_job('worker', id, 'no luck') from claimed where key = 'failed';
select return_job('worker', id) from claimed where key = 'returned';
update _private_jobs set locked_at = now() - interval '5 hours' where key = 'reset';
select reset_stale_locks();
update _private_jobs set locked_by = 'dead' where key = 'unlocked';
select force_unlock_workers('{dead}');

select set_eq(
  $$ select key, locked_by, updated_at from _private_jobs $$,
  $$ values ('running',  'worker', now() - interval '1 day'),
            ('failed',   null,     now() - interval '1 day'),
            ('returned', null,     now() - interval '1 day'),
            ('reset',    null,     now() - interval '1 day'),
            ('unlocked', null,     now() - interval '1 day') $$,
  'claims, failures, returns, resets and unlocks do not change updated_at');

select * from finish();
rollback;
