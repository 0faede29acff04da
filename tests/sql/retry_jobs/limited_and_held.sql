-- A job in a lane of a limit that is retried or rescheduled waits for a claim to look at it again; a suspect goes back to its queue.
begin;
select plan(8);
set local search_path = graphile_worker, public;

\ir ../suspect.psql
create function pg_temp.places()
  returns text
  language sql
as $$
  select string_agg(coalesce(q.queue_name, case when j.job_queue_id <= -16 then 'lane' else j.job_queue_id::text end, 'none'), ' ' order by j.id)
    from _private_jobs as j
    left join _private_job_queues as q on q.id = j.job_queue_id
$$;

select set_limit('limit', '{limited}', by => 'payload:k', max_running => 1);
select add_job('limited', '{"k": 1}'), add_job('limited', '{"k": 1}'), add_job('plain'), add_job('limited', '{"k": 1}', queue_name => 'q');
select get_job('worker', '{limited}') from generate_series(1, 2);
select is(pg_temp.places(), 'lane lane none q', 'one job of the lane runs, the next one waits in it');
select count(*) from retry_jobs(array(select id from jobs));
select is(pg_temp.places(), 'lane -1 none q',
  'retry_jobs() takes a waiting job out of its lane, and leaves the running one');
select get_job('worker', '{limited}');
select is(pg_temp.places(), 'lane lane none q', 'a claim puts the retried job into its lane again');
update _private_jobs set locked_at = now() - interval '5 hours' where locked_at is not null;
select count(*) from reschedule_jobs(array(select id from jobs), run_at => now());
select is(pg_temp.places(), 'lane -1 none q',
  'reschedule_jobs() takes a waiting job out of its lane, and not one whose lock is old');

update _private_jobs set locked_at = null, locked_by = null, job_queue_id = -1, attempts = max_attempts where locked_at is not null;
select count(*) from retry_jobs(array(select id from jobs where attempts > 0));
select is(pg_temp.places(), '-1 -1 none q', 'retry_jobs() lets a failed job wait for a claim that looks at it');

select pg_temp.suspect(id) from jobs;
select is(pg_temp.places(), '-2 -2 -2 -2', 'all four suspects are held');
select count(*) from redrive_jobs(array(select id from jobs), '1 second');
select is(pg_temp.places(), '-1 -1 none q', 'redrive_jobs() puts suspects to where they were added');
select _gw_drop_ended();
select pg_temp.suspect(id) from jobs where queue_name = 'q';
select count(*) from reschedule_jobs(array(select id from jobs), priority => 1);
select is(pg_temp.places(), '-1 -1 none q', 'reschedule_jobs() puts a suspect to where it was added');

select * from finish();
rollback;
