-- Jobs that wait and jobs that run when a limit is set: claims that begin after it obey it, and it counts what runs.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select row('export', to_json(n), null, null, null, null, null, null)::job_spec from generate_series(1, 2500) as n));
select add_job('other') from generate_series(1, 3);
select count(*) from get_job_batch('worker', '{export}', batch_size => 2);
select set_limit('exports', tasks => '{export}', max_running => 3);
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 3::bigint, 'other tasks go on at once');
select is((select count(*) from jobs where locked_by is not null and task_identifier = 'export'), 2::bigint, 'this one has to wait');
select ok(next_run_at() < clock_timestamp() + interval '60 ms', 'but not for long');
select is((select count(*) from (select get_job_batch('worker', batch_size => 100) from generate_series(1, 60)) as b), 1::bigint, 'running jobs have slots');
select is((select count(*) from _gw_moves), 0::bigint, 'claims move the jobs');
select is((select count(*) from _private_jobs where job_queue_id is null), 3::bigint, 'all of them');
select complete_job('worker', id) from (select id from jobs where locked_by is not null and task_identifier = 'export' order by id limit 2) as j;
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 2::bigint, 'which makes room when they end');

select * from finish();
rollback;
