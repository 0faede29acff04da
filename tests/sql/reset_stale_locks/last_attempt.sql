-- A job whose worker died in its last attempt has failed permanently, with that reason.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'last', max_attempts => 1, run_at => now() - interval '6 hours'),
       add_job('task', job_key => 'first', run_at => now() - interval '6 hours');
select get_job_batch('worker', batch_size => 2);
update _private_jobs set locked_at = now() - interval '5 hours', last_error = 'no luck';

select reset_stale_locks();
select set_eq(
  $$ select key, attempts, is_available, last_error, run_at from _private_jobs $$,
  $$ values ('last',  1::smallint, false, 'Worker worker reported no outcome of the last attempt.', now()),
            ('first', 1::smallint, true,  'no luck', now()) $$,
  'the reason is stored as last_error only if no attempt is left; run_at is not in the past');
select is((select key from get_job('next')), 'first', 'the job with attempts left is claimed again');

select * from finish();
rollback;
