-- why() says that no worker runs a task if the last one that did is dead, and no other job waits for such a job.
begin;
select plan(10);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

create function pg_temp.reasons(job_key text)
  returns text
  language sql
as $$ select string_agg(w.reason, ', ') from why((select id from _private_jobs where key = job_key)) as w $$;

select add_job('resize', job_key => 'resize', priority => -1), add_job('mail', job_key => 'mail');
select add_job('resize', job_key => 'q1', queue_name => 'q', priority => -1), add_job('mail', job_key => 'q2', queue_name => 'q');
select is(pg_temp.reasons('resize'), 'next',
  'a job is next without registered workers, because those of Node may run all tasks');
select is(pg_temp.reasons('mail'), 'behind', 'a job is behind another one without registered workers');
select register_worker('resizer', '{resize}'), register_worker('mailer', '{mail}');
select is(pg_temp.reasons('resize'), 'next', 'a job of a task that a worker has is next');
select is(pg_temp.reasons('q2'), 'behind in queue', 'the second job of a queue is behind the first one');
update _gw_workers set last_seen_at = now() - setting('dead_after')::interval - interval '1 second' where id = 'resizer';
select is(pg_temp.reasons('resize'), 'no worker', 'a job of a task whose only worker is dead has no worker');
select matches((select detail from why((select id from jobs where key = 'resize'))),
               '^No registered worker that was seen in the last .* runs the task resize\. resizer did, and was last seen at ',
               'why() says which worker ran the task and when it was last seen');
select is(pg_temp.reasons('mail'), 'next', 'a job does not wait for a job in front that no worker runs');
select results_eq($$ select w.reason, w.blocking_job_ids from why((select id from jobs where key = 'q2')) as w $$,
                  $$ select 'behind', array[id] from jobs where key = 'mail' $$,
                  'a job in a queue does not wait for a job that no worker runs, but for others in front');
select pg_temp.suspect(id) from jobs where key = 'resize';
select is(pg_temp.reasons('resize'), 'no worker, suspect', 'a suspect of a task without a worker waits for one, too');
select register_worker('any');
select is(pg_temp.reasons('resize'), 'suspect', 'a suspect waits for being alone only when its task has a worker');

select * from finish();
rollback;
