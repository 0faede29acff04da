-- A running job that was replaced has one attempt more than its maximum. When a Node worker has released it, a sweep
-- removes that attempt, as Graphile Worker's clean-up requires; not while the job still runs.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'a', max_attempts => 3), add_job('task', job_key => 'b', max_attempts => 3),
       add_job('task', max_attempts => 3);
select get_job_batch('pool-node', batch_size => 3);
select remove_job('a'), remove_job('b');
-- As Graphile Worker's failJob writes it.
update _private_jobs
   set last_error = 'no luck', run_at = greatest(now(), run_at) + interval '1 second', locked_at = null, locked_by = null
 where id = (select min(id) from _private_jobs);

select is(reset_stale_locks(), 0::bigint, 'no stale lock is freed');
select results_eq(
  $$ select attempts, max_attempts, last_error, locked_by from _private_jobs order by id $$,
  $$ values (3::smallint, 3::smallint, 'no luck', null),
            (4::smallint, 3::smallint, null, 'pool-node'),
            (1::smallint, 3::smallint, null, 'pool-node') $$,
  'the released job with too many attempts has failed permanently, the others are unchanged');

create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
update _private_jobs set locked_at = null, locked_by = null where attempts > max_attempts;
create trigger refuse before update on _private_jobs for each row execute function pg_temp.refuse();
select lives_ok($$ select reset_stale_locks() $$, 'a trigger that refuses updates does not stop a sweep');

select * from finish();
rollback;
