-- job_ends() returns the jobs that have ended, and how.
begin;
select plan(6);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

create function pg_temp.ends() returns text as $body$
  select coalesce(string_agg(e.id || ' ' || e.state, ', ' order by e.id), '') from job_ends('{1,2,3,4,5,null,2}') as e;
$body$ language sql;

select add_job('task', max_attempts => 1);
select add_job('task');
select add_job('later', run_at => now() + interval '1 hour');
select add_job('task', job_key => 'k');
select is(pg_temp.ends(), '5 gone', 'a job that waits has not ended; one that was never there counts as gone');
select get_job_batch('w', '{task}', 3);
select is(pg_temp.ends(), '5 gone', 'a job that runs has not ended');
select complete_job('w', 2);
select fail_job('w', 1, 'no such host'), fail_job('w', 4, 'no such host');
select is(pg_temp.ends(), '1 failed, 2 gone, 5 gone', 'a job that fails has ended if no attempt is left');
select remove_job('k');
select permanently_fail_jobs('{3}');
select is(pg_temp.ends(), '1 failed, 2 gone, 3 failed, 4 gone, 5 gone', 'a job that was removed is gone; an administrator can end jobs');
select retry_jobs('{1}');
select is(pg_temp.ends(), '2 gone, 3 failed, 4 gone, 5 gone', 'a job that is retried has not ended any more');
select is((select count(*) from job_ends(null)), 0::bigint, 'job_ends(null) returns no rows');

select * from finish();
rollback;
