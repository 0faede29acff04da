-- The first lane has the id -16. Whoever looks for lanes finds it; a sweep goes over as many as it is to, from where the last one ended.
begin;
select plan(16);
set local search_path = graphile_worker, public;

alter sequence _gw_lane_ids restart;
alter sequence _gw_lane_cursor restart;
select set_limit('l', '{task}', by => 'payload:k', max_running => 1);
select add_job('task', json_build_object('k', k)) from unnest('{1,1,2,2,3,3}'::integer[]) as k;
select count(*) from get_job_batch('stranger', '{task}', 9);
select is(array(select distinct job_queue_id from _private_jobs order by 1), '{-18,-17,-16}',
  'the limit has three lanes, the first with the id -16');
select set_eq($$ select r.job_id from _gw_running_at(null) as r $$, $$ select id from _private_jobs where locked_at is not null $$,
  'each lane runs one job');

select is(_gw_next_lanes(2), '{-18,-17}', 'a sweep of two lanes begins with the first two ids');
select is(_gw_next_lanes(2), '{-16}', 'the next sweep has the last lane');
select is(_gw_next_lanes(2), '{-18,-17}', 'the sweep after the last lane begins again');
select is(_gw_next_lanes(9), '{-16}', 'a sweep of more lanes than are left ends with the last one');
select is(_gw_next_lanes(9), '{-18,-17,-16}', 'a sweep of more lanes than there are has all of them');

select pg_stat_get_xact_tuples_updated('_gw_lanes'::regclass) as written, pg_stat_get_xact_numscans('_private_jobs'::regclass) as scans \gset
select _gw_sweep_limits();
select is(pg_stat_get_xact_tuples_updated('_gw_lanes'::regclass), :written::bigint, 'a sweep writes no lane that is right');
select is(pg_stat_get_xact_numscans('_private_jobs'::regclass), :scans::bigint, 'a sweep finds jobs by their indexes');

select set_limit('l', '{task,other}', by => 'payload:k', max_running => 1);
select set_eq($$ select r.job_id from _gw_running_at(null) as r $$, $$ select id from _private_jobs where locked_at is not null $$,
  'the running jobs of all lanes are counted after a change of the limit');
select is((select count(*) from _private_jobs where locked_at is not null and job_queue_id > -19), 0::bigint,
  'running jobs are in new lanes after a change of the limit');
select is((select sum(running) from list_lanes('l')), 3::numeric,
  'running jobs are counted once after a change of the limit');
select is((select count(*) from get_job_batch('stranger', '{task}', 9)), 0::bigint,
  'no job starts while all lanes are full');

delete from _private_jobs;
update _gw_lanes set gate = 0, served_at = 'epoch';
select pg_stat_get_xact_numscans('_private_jobs'::regclass) as scans \gset
select _gw_sweep_limits();
select is(pg_stat_get_xact_numscans('_private_jobs'::regclass), :scans::bigint,
  'a sweep finds idle lanes by their indexes');
alter sequence _gw_lane_ids restart;
select add_job('task', '{"k":7}') from generate_series(1, 2);
select count(*) from get_job_batch('stranger', '{task}', 9);
delete from _private_jobs where locked_at is not null;
select is((select job_queue_id from _private_jobs), -16, 'a job waits in the first lane');
select drop_limit('l');
select is((select count(*) from get_job_batch('stranger', '{task}', 9)), 1::bigint,
  'a job in the first lane starts when the limit is dropped');

select * from finish();
rollback;
