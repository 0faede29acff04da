-- What a heartbeat recovers and deletes, and what it leaves.
begin;
select plan(14);
set local search_path = graphile_worker, public;
\ir ../suspect.psql

-- A job that was canceled and revived, and is on its last attempt.
select add_job('task', max_attempts => 1);
select count(*) from get_job_batch('worker');
insert into _gw_cancels (job_id, worker_id) select id, 'worker' from _private_jobs;
select is_empty($$ select job_id from _gw_canceled_jobs('worker') $$, 'a job in its last attempt is not canceled');
update _private_jobs set attempts = 2;
select isnt_empty($$ select job_id from _gw_canceled_jobs('worker') $$,
  'a job with more attempts than its most is canceled');
select _gw_drop_ended();
select is((select count(*) from _gw_cancels), 1::bigint, 'the row of a canceled job stays while it runs');
update _private_jobs set attempts = 1;
select _gw_drop_ended();
select is((select count(*) from _gw_cancels), 0::bigint, 'the row of a job that is not canceled any more is deleted');

-- A failed job.
update _private_jobs set locked_at = null, locked_by = null;
select pg_stat_get_xact_tuples_updated('_private_jobs'::regclass) as written \gset
select _gw_recover_jobs(array(select id from _private_jobs), null, '4 hours');
select is(pg_stat_get_xact_tuples_updated('_private_jobs'::regclass), :written::bigint,
  'the recovery leaves a failed job unchanged');
update _private_jobs set attempts = 2;
select _gw_recover_jobs(array(select id from _private_jobs), null, '4 hours');
select is((select attempts::integer from _private_jobs), 1,
  'a job with more attempts than its most is set to that many');

-- A suspect that has failed goes from the list when its queue has it back.
select pg_temp.suspect(id) from jobs;
create function pg_temp.keep() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger keep before update on _private_jobs for each row execute function pg_temp.keep();
select _gw_drop_ended();
select is((select count(*) from _gw_suspects), 1::bigint,
  'a failed suspect stays listed while its queue does not have it back');
drop trigger keep on _private_jobs;
select _gw_drop_ended();
select is((select count(*) from _gw_suspects), 0::bigint,
  'a failed suspect is deleted from the list when its queue has it back');
delete from _private_jobs;

-- A dead worker with a job on its last attempt, and a pass that has not ended.
\ir ../keeper.psql
select register_worker(w) from unnest('{worker,other}'::text[]) as w;
select add_job('task', max_attempts => 1), add_job('task', max_attempts => 1);
select count(*) from get_job_batch('worker', batch_size => 2);
select pg_temp.kill('worker');
select results_eq($$ select r.died, r.more from _gw_recover_workers('1 minute', 1) as r $$, $$ values ('{}'::text[], true) $$,
  'a step of a pass frees nothing');
select pg_temp.kill('other');
select results_eq($$ select r.died, r.more from _gw_recover_workers('1 minute', 1) as r $$, $$ values ('{}'::text[], true) $$,
  'the next step of the pass does not end it, either');
select is((select count(*) from _gw_recovery), 1::bigint, 'both steps belong to one pass');
select results_eq($$ select r.died, r.more from _gw_recover_workers('1 minute', 3) as r $$, $$ values ('{worker}'::text[], false) $$,
  'the last step ends the recovery of its own worker only');
select is((select count(*) from _gw_suspects), 0::bigint, 'a job that has no attempt left is no suspect');
select results_eq($$ select r.died, r.more from _gw_recover_workers('1 minute', 3) as r $$, $$ values ('{other}'::text[], false) $$,
  'the next pass recovers the other worker');

select * from finish();
rollback;
