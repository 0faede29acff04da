-- A paused queue is locked by its pause: nobody takes it, and it runs one job at a time before, during and after the pause.
begin;
select plan(19);
set local search_path = graphile_worker, public;

create function pg_temp.next() returns text as $body$
  select coalesce(string_agg(b.key, ' ' order by b.key), '') from get_job_batch('worker', batch_size => 10, now => clock_timestamp()) as b
$body$ language sql;
create function pg_temp.done(job_key text) returns void as $body$
  select complete_job('worker', j.id) from jobs as j where j.key = job_key
$body$ language sql;
create function pg_temp.holder() returns text as $body$
  select coalesce(q.locked_by, '') from _private_job_queues as q where q.queue_name = 'q'
$body$ language sql;

select add_job('a', job_key => 'q' || n, queue_name => 'q') from generate_series(1, 9) as n;
select add_job('a', job_key => 'other', queue_name => 'p');
select pause(queue => 'q');
select is(pg_temp.next(), 'other', 'jobs of other queues start while a queue is paused');
select is(pg_temp.holder(), 'pause', 'the paused queue is locked by its pause');
select is((select count(*) from _private_jobs where job_queue_id > 0), 10::bigint,
  'jobs of a paused queue stay in their queue');
select ok(resume(queue => 'q'), 'resume() returns true for a queue that is paused');
select ok(not resume(queue => 'q'), 'resume() returns false for a queue that has been resumed');
select is(pg_temp.next(), 'q1', 'one job of the resumed queue starts');

-- While a job runs.
select pause(queue => 'q');
select is(pg_temp.holder(), 'worker', 'the running job keeps its queue when it is paused');
select is(pg_temp.next(), '', 'no second job starts beside the one that runs in the paused queue');
select resume(queue => 'q');
select is(pg_temp.next(), '', 'no second job starts if the pause ends while the first one runs');
select pause(queue => 'q', until => clock_timestamp() + interval '1 hour');
select pg_temp.done('q1');
select is(pg_temp.holder(), 'pause', 'the end of the job gives the queue to the pause');
select is(pg_temp.next(), '', 'the next job of the paused queue waits');
update _gw_pauses set until = clock_timestamp() + interval '1 day';
select is(next_run_at(), (select until from _gw_pauses), 'the next due time is the end of the pause');
update _gw_pauses set until = clock_timestamp();
select is(pg_temp.next(), 'q2', 'the first claim after the end of the pause starts the next job');
select is((select count(*) from _gw_pauses), 0::bigint, 'the pause is deleted by the claim after its end');

-- Somebody who knows no pauses frees the queue.
select pause(queue => 'q');
update _private_jobs set locked_by = null, locked_at = null where key = 'q2';
update _private_job_queues set locked_by = null, locked_at = null;
set constraints all immediate;
set constraints all deferred;
select _gw_sweep_pauses();
select is(pg_temp.holder(), 'pause', 'a heartbeat gives the queue back to the pause after somebody has freed it');
update _private_job_queues set locked_at = now() - interval '5 hours';
select _gw_sweep_pauses();
select reset_stale_locks();
select is(pg_temp.holder(), 'pause', 'the pause keeps the queue although its lock is older than any expiry');

-- A queue that is not there yet.
select pause(queue => 'new');
select add_job('a', job_key => 'new', queue_name => 'new');
select is(pg_temp.next(), '', 'a queue can be paused before its first job is added');
select resume(queue => 'new');
select is(pg_temp.next(), 'new', 'the first job of the queue starts when it is resumed');
select results_eq($$ select queue from list_pauses() $$, $$ values ('q') $$,
  'only the pause that was not resumed is listed');

select * from finish();
rollback;
