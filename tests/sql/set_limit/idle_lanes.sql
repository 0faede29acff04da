-- Only lanes and keys that nobody needs are deleted: not those of waiting or running jobs, nor keys at which ends are still to be counted.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select set_limit('l', '{task}', by => 'payload:k', max_running => 9);
create function pg_temp.sweep() returns text language sql as $$
  update _gw_lanes set gate = 0, served_at = 'epoch';
  select _gw_drop_idle(array(select id from _gw_limits), array(select id from _private_tasks));
  select (select count(*) from _gw_lanes) || ' ' || (select count(*) from _gw_gates)
$$;
select add_job('task', '{"k":1}', 'q'), add_job('task', '{"k":2}'), add_job('task', '{"k":3}');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 3::bigint,
  'three jobs with different keys run');
select is(pg_temp.sweep(), '3 3', 'lanes and keys of running jobs are kept');
select return_job('worker', id) from _private_jobs where payload ->> 'k' = '3';
update _private_jobs set job_queue_id = (select l.id from _gw_lanes as l join _gw_gates as g on g.id = any (l.gates) where g.key = '3') where locked_at is null;
update _gw_gates set running = 0;
delete from _gw_gate_ends;
select is(pg_temp.sweep(), '3 3', 'a lane with a waiting job is kept, whoever has put the job there');
delete from _private_jobs where locked_at is null;
insert into _gw_gate_ends (limit_id, gate_id) select limit_id, id from _gw_gates where key = '3';
select is(pg_temp.sweep(), '2 3', 'a key is kept while an end is to be counted at it, its lane is not');
delete from _gw_gate_ends;
select is(pg_temp.sweep(), '2 2', 'a key without jobs is deleted when its ends are counted');
select complete_job('worker', id) from _private_jobs where payload ->> 'k' = '2';
delete from _gw_gate_ends;
select is(pg_temp.sweep(), '1 1', 'the key of a running job in a queue is kept');

-- A sweep leaves the jobs of a lane in it; those of lanes that there are not come in, and workers are told of them.
\ir ../calls.psql
select set_limit('l', '{task}', by => 'payload:k', max_running => 1);
select add_job('task', '{"k":4}') from generate_series(1, 2);
select count(*) from get_job_batch('worker', batch_size => 9);
select job_queue_id as lane from _private_jobs where locked_at is null \gset
select _gw_sweep_limits();
select is((select job_queue_id from _private_jobs where locked_at is null), :lane,
  'a sweep leaves a waiting job in its lane');
select pg_temp.calls('{_gw_wake}') as told \gset
update _private_jobs set job_queue_id = -77 where locked_at is null;
select _gw_sweep_limits();
select is((select job_queue_id from _private_jobs where locked_at is null), -1,
  'a sweep brings in a waiting job of a lane that does not exist');
select is(pg_temp.calls('{_gw_wake}'), :told + 1::bigint, 'a sweep notifies workers of a job that it brings in');

select * from finish();
rollback;
