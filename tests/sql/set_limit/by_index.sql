-- Whatever claims, ends and heartbeats look for, they find by indexes, also where hardly a row is.
begin;
select plan(2);
set local search_path = graphile_worker, public;

create function pg_temp.scanned(tables text[]) returns text[] language sql as $$
  select array(select c.relname from pg_class as c
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
select is(pg_temp.scanned('{_gw_lanes,_private_job_queues}'), '{}', 'lanes and queues');
select is(pg_temp.scanned('{_gw_suspects,_gw_cancels}'), '{}', 'suspects');

select * from finish();
rollback;
