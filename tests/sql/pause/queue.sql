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
select is(pg_temp.next(), 'other', 'other queues go on');
select is(pg_temp.holder(), 'pause', 'the pause has the queue');
select is((select count(*) from _private_jobs where job_queue_id > 0), 10::bigint, 'its jobs stay as they are');
select ok(resume(queue => 'q'), 'it is resumed');
select ok(not resume(queue => 'q'), 'once');
select is(pg_temp.next(), 'q1', 'one job starts');

-- While a job runs.
select pause(queue => 'q');
select is(pg_temp.holder(), 'worker', 'a running job keeps the queue');
select is(pg_temp.next(), '', 'alone');
select resume(queue => 'q');
select is(pg_temp.next(), '', 'also if the pause ends before it');
select pause(queue => 'q', until => clock_timestamp() + interval '1 hour');
select pg_temp.done('q1');
select is(pg_temp.holder(), 'pause', 'the end of the job gives the queue to the pause');
select is(pg_temp.next(), '', 'so the next one waits');
update _gw_pauses set until = clock_timestamp() + interval '1 day';
select is(next_run_at(), (select until from _gw_pauses), 'workers know when to look again');
update _gw_pauses set until = clock_timestamp();
select is(pg_temp.next(), 'q2', 'and the first claim after its end ends it');
select is((select count(*) from _gw_pauses), 0::bigint, 'for good');

-- Somebody who knows no pauses frees the queue.
select pause(queue => 'q');
update _private_jobs set locked_by = null, locked_at = null where key = 'q2';
update _private_job_queues set locked_by = null, locked_at = null;
set constraints all immediate;
set constraints all deferred;
select _gw_sweep_pauses();
select is(pg_temp.holder(), 'pause', 'the next heartbeat gives it back to the pause');
update _private_job_queues set locked_at = now() - interval '5 hours';
select _gw_sweep_pauses();
select reset_stale_locks();
select is(pg_temp.holder(), 'pause', 'which keeps it as long as it lasts');

-- A queue that is not there yet.
select pause(queue => 'new');
select add_job('a', job_key => 'new', queue_name => 'new');
select is(pg_temp.next(), '', 'a queue can be paused before its first job is added');
select resume(queue => 'new');
select is(pg_temp.next(), 'new', 'which starts then');
select results_eq($$ select queue from list_pauses() $$, $$ values ('q') $$, 'one pause is left');

select * from finish();
rollback;
