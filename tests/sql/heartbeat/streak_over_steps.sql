-- A recovery that reads the jobs in several steps knows which job of a queue is the first one of its claim.
begin;
select plan(4);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('dead');
select add_job('task', to_json(p), 'q', priority => p) from unnest('{4,3,2,1}'::integer[]) as p;
select add_job('task', to_json(p), 'r', priority => p) from unnest('{8,7}'::integer[]) as p;
select get_job_batch('dead', batch_size => 9, queue_batch => 4);
select pg_temp.kill('dead');
create function pg_temp.step() returns text language sql as $$
  select format('%s %s', freed, more) from graphile_worker._gw_recover_workers('1 minute', 3)
$$;

select is(array(select pg_temp.step() from generate_series(1, 2)), '{"0 t","0 t"}',
  'two steps of three jobs free none of a queue');
select is(pg_temp.step(), '6 f', 'the last step frees all jobs together');
select is(array(select j.priority::integer from _gw_suspects as s join _private_jobs as j on j.id = s.job_id order by 1), '{1,7}',
  'the first job of each queue is a suspect');
select is((select count(*) from _gw_recovery) + (select count(*) from _private_jobs where attempts = 0), 4::bigint,
  'the pass is over, and the other jobs have their attempts back');

select * from finish();
rollback;
