-- What stands in front of the free jobs of named queues and may not be claimed hides none of them.
begin;
select plan(12);
set local search_path = graphile_worker, public;

create function pg_temp.claimed(jobs integer, due timestamptz default now()) returns text[] as $body$
declare
  keys text[];
begin
  keys := array(select b.key from get_job_batch('worker', '{task}', jobs, '{barred}', due) as b);
  raise exception 'undo';
exception when raise_exception then
  return keys;
end
$body$ language plpgsql;

select add_job('task', queue_name => 'barred' || n, flags => '{barred}', priority => -1) from generate_series(1, 100) as n;
select add_job('other', queue_name => 'other' || n, priority => -1) from generate_series(1, 100) as n;
select add_job('task', queue_name => 'later' || n, run_at => now() + interval '1 hour', priority => -2) from generate_series(1, 100) as n;
select add_job('task', queue_name => 'a', job_key => 'a');
select is(pg_temp.claimed(1), '{a}', 'a claim finds a job behind those of forbidden flags, other tasks and the future');
select is(pg_temp.claimed(10), '{a}',
  'a batch has the job behind those of forbidden flags, other tasks and the future');

select add_job('task', queue_name => 'a', job_key => 'future', run_at => now() + interval '1 hour', priority => -5);
select add_job('task', queue_name => 'a', job_key => 'flagged', flags => '{barred}', priority => -5);
select is(pg_temp.claimed(1), '{a}', 'a claim finds a due job behind jobs of its queue that it may not take');
select is(pg_temp.claimed(10), '{a}', 'a batch has the due job behind jobs of its queue that it may not take');

-- A claim in the past and in the future.
select is(pg_temp.claimed(10, now() - interval '1 minute'), '{}', 'no job was due a minute ago for a batch');
select is(pg_temp.claimed(1, now() - interval '1 minute'), '{}', 'no job was due a minute ago for a claim of one');
select is((pg_temp.claimed(200, now() + interval '2 hours'))[1], 'future',
  'the future job is the head of its queue for a claim of two hours later');
select is(cardinality(pg_temp.claimed(200, now() + interval '2 hours')), 101,
  'a batch of two hours later has one job of the queue of the future job');

-- Attempts used up, and given back by hand.
select permanently_fail_jobs(array_agg(id)) from jobs where key = 'a';
select is(pg_temp.claimed(1), '{}', 'a failed job is not claimed');
update _private_jobs set attempts = attempts - 1 where key = 'a';
select is(pg_temp.claimed(1), '{a}', 'a failed job whose attempt is given back by hand is claimed');
update _private_jobs set max_attempts = attempts where key = 'a';
select is(pg_temp.claimed(10), '{}', 'a job without attempts that are left is not claimed');
update _private_jobs set max_attempts = 25 where key = 'a';
select is(pg_temp.claimed(10), '{a}', 'a job that gets more attempts by hand is claimed');

select * from finish();
rollback;
