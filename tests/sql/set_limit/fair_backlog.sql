-- A claim starts jobs of a fair limit though more of them come in than it puts into lanes.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select set_limit('fair', tasks => '{a}', by => 'payload:k', fair => true);
select count(*) from add_jobs(array(select row('a', json_build_object('k', n % 9), null, null, null, null, null, null)::job_spec from generate_series(1, 5000) as n));
select is((select count(*) from get_job_batch('worker', now => clock_timestamp())), 1::bigint, 'the first claim starts a job');

select * from finish();
rollback;
