-- Whatever claims, ends and heartbeats look for, they find by indexes, also where hardly a row is.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.scanned(tables text[]) returns text[] language sql as $$
  select array(select c.relname::text from pg_class as c
                where c.relnamespace = 'graphile_worker'::regnamespace and c.relname = any (tables) and pg_stat_get_xact_numscans(c.oid) > 0
                order by c.relname)
$$;

select set_limit('l', '{task}', by => 'payload:k', max_running => 1);
select register_worker('worker');
select add_job('task', json_build_object('k', n % 3), case when n > 9 then 'q' || n end, priority => n % 2) from generate_series(1, 12) as n;
select add_job('other', queue_name => 'r' || n) from generate_series(1, 20) as n;
select add_job('other', run_at => now() + n * interval '1 minute', queue_name => case n when 1 then 'r1' end) from generate_series(1, 2) as n;
create function pg_temp.work() returns bigint language sql as $$
  select count(*) from get_job_batch('worker', '{task}', 5);
  select count(*) from get_job_batch('worker', '{task,other}', 2);
  select next_run_at(), next_run_at('{task}');
  select complete_job('worker', id) from _private_jobs where locked_by = 'worker' order by id limit 1;
  select complete_job_batch('worker', array(select id from _private_jobs where locked_by = 'worker' order by id limit 2));
  select count(*) from get_job_batch('worker', null, 3);
  select return_job('worker', id) from _private_jobs where locked_by = 'worker' order by id limit 1;
  select heartbeat('worker');
  select count(*) from _private_jobs
$$;
select pg_temp.work() from generate_series(1, 3);
select is(pg_temp.scanned('{_gw_lanes,_private_job_queues}'), '{}', 'lanes and queues are never read sequentially');
select is(pg_temp.scanned('{_gw_suspects,_gw_cancels}'), '{}',
  'suspects and canceled jobs are never read sequentially');

-- By the index that has no others, not by one that has them, too.
set local enable_seqscan = off;
set local enable_bitmapscan = off;
create function pg_temp.scans(index_name text) returns bigint language sql as $$ select pg_stat_get_xact_numscans(index_name::regclass) $$;
select pg_temp.scans('jobs_main_index') as jobs \gset
select next_run_at();
select is(pg_temp.scans('jobs_main_index'), :jobs::bigint, 'the next due time does not use the index of all jobs');
select pg_temp.scans('_gw_queue_heads') as heads, pg_temp.scans('_gw_queued_tasks') as tasks \gset
select _gw_queues_by_task(_gw_new_claim('worker', '{other}', 1, null, now(), null, null, 1), row(9, 'infinity', 0, null)::_gw_place);
select is(pg_temp.scans('_gw_queue_heads'), :heads::bigint, 'the search by tasks does not use the index of all queues');
select cmp_ok(pg_temp.scans('_gw_queued_tasks'), '>', :tasks::bigint,
  'the search by tasks uses the index of tasks in queues');
update _gw_gates set running = 0;
update _gw_lanes set gate = gates[1];
select pg_temp.scans('_gw_lanes_gates') as gates, pg_temp.scans('_gw_lanes_waiting') as waiting \gset
select _gw_open_lanes(array(select id from _gw_gates), array[_gw_limits_of((select id from _private_tasks where identifier = 'task'))], 9, now());
select is(pg_temp.scans('_gw_lanes_gates'), :gates::bigint, 'opening lanes does not use the index of all lanes');
select cmp_ok(pg_temp.scans('_gw_lanes_waiting'), '>', :waiting::bigint,
  'opening lanes uses the index of waiting lanes');

select * from finish();
rollback;
