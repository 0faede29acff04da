-- A worker is not told to look again at hundreds of queues whose first jobs wait for a lane.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select set_limit('keys', tasks => '{a}', by => 'payload:k', max_running => 1);
select add_job('a', '{"k":1}');
select count(*) from get_job_batch('worker');
select count(*) from add_jobs(array(select row('a', '{"k":1}', 'q' || n, null, null, null, null, null)::job_spec from generate_series(1, 600) as n));
select is_empty($$ select id from get_job_batch('worker', '{a}', now => clock_timestamp()) $$,
  'no job in the queues starts while the lane is full');
select ok(coalesce(next_run_at('{a}') > clock_timestamp() + interval '1 second', true),
  'no worker looks again before a job of the lane ends');

select * from finish();
rollback;
