-- Mode preserve_run_at overwrites everything except the run_at of a job that has not been tried yet.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', run_at => now() + interval '1 hour', job_key => 'key');
select results_eq(
  $$ select r.run_at, r.payload::text, r.priority, r.revision
       from add_job('task', '{"n": 2}', run_at => now() + interval '2 hours', job_key => 'key', priority => 3,
                    job_key_mode => 'preserve_run_at') as r $$,
  $$ values (now() + interval '1 hour', '{"n": 2}', 3::smallint, 1) $$,
  'the run_at of a waiting job stays, the rest is new');

update _private_jobs set attempts = 1, last_error = 'no luck';
select results_eq(
  $$ select r.run_at, r.attempts, r.last_error
       from add_job('task', run_at => now() + interval '2 hours', job_key => 'key', job_key_mode => 'preserve_run_at') as r $$,
  $$ values (now() + interval '2 hours', 0::smallint, null::text) $$,
  'the run_at of a job that has failed is new');

select is(
  (add_job('task', run_at => now() + interval '3 hours', job_key => 'new', job_key_mode => 'preserve_run_at')).run_at,
  now() + interval '3 hours',
  'a new key gets the run_at that is given');

select * from finish();
rollback;
