-- A trigger that refuses to free a job does not prevent the recovery of others. The job stays locked, and the sweep
-- tries again.
begin;
select plan(12);
set local search_path = graphile_worker, public;
set local client_min_messages = error;

\ir ../keeper.psql
-- Error code of the refusal, by the key of the job.
create temp table refusals (key text, code text);
create function refuse() returns trigger language plpgsql as $$
declare
  code text := (select r.code from pg_temp.refusals as r where r.key = old.key);
begin
  if code = 'assert' then
    assert false;
  elsif code is not null then
    raise 'not this one' using errcode = code;
  end if;
  return new;
end;
$$;
create trigger refuse before update of locked_at on _private_jobs for each row
  when (new.locked_at is null and old.locked_at is not null) execute function refuse();

select register_worker('dead', '{task}');
select add_job('task', job_key => 'job ' || n, queue_name => case when n = 5 then 'q' end) from generate_series(1, 20) as n;
select add_job('task', job_key => 'behind', queue_name => 'q');
select get_job_batch('dead', batch_size => 20);
update _gw_workers set last_seen_at = clock_timestamp() - interval '3 minutes' where id = 'dead';
update _private_jobs set locked_at = locked_at - interval '3 minutes' where locked_by = 'dead';
update _private_job_queues set locked_at = locked_at - interval '3 minutes' where locked_by = 'dead';

insert into refusals values ('job 5', '40001');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'an error that is not about a job ends the recovery, not the heartbeat');
update refusals set code = 'P0001';
insert into refusals values ('job 20', 'XX001'), ('job 6', 'assert');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 17::bigint) $$,
                  'the jobs that no trigger refuses are freed');
select set_eq($$ select key from _private_jobs where locked_by = 'dead' $$, '{job 5,job 6,job 20}'::text[],
  'the jobs that the trigger refuses stay locked');
select set_eq($$ select attempts from _private_jobs where locked_by is null and key <> 'behind' $$, '{1}'::smallint[],
              'each freed job has lost one attempt');
select is(key, 'behind',
  'the queue of a job that stays locked is free for its next job') from get_job('next', '{task}');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'further heartbeats do not try again to free the refused jobs');
select matches(detail, 'jobs: 3, ', 'doctor() shows the three locks that stay')
  from doctor() where finding = 'stale lock' and subject = 'worker dead';

delete from refusals where key = 'job 6';
update _gw_turns set last_at = '-infinity' where name = 'stale_sweep';
select is(stale_sweep(), 0::bigint, 'a sweep frees no such job itself, but has the recovery try again');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 1::bigint) $$,
                  'the next heartbeat after the sweep frees the job that is not refused any more');

update _private_jobs set locked_at = now() - interval '5 hours' where locked_by = 'dead';
delete from refusals where key = 'job 5';
select is(reset_stale_locks(), 1::bigint, 'reset_stale_locks() frees the job that is not refused any more');
select set_eq($$ select key from _private_jobs where locked_by = 'dead' $$, '{job 20}'::text[],
  'reset_stale_locks() skips the job that is still refused');
update refusals set code = '55P03';
select throws_ok('select reset_stale_locks()', '55P03', 'not this one',
  'an error that is not about a job ends reset_stale_locks()');

select * from finish();
rollback;
