-- Jobs that wait and jobs that run when a limit is set: claims that begin after it obey it, and it counts what runs. Nothing is written
-- to jobs that wait.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select row('export', to_json(n), null, null, null, null, null, null)::job_spec from generate_series(1, 2500) as n));
select add_job('other') from generate_series(1, 3);
select register_worker('worker');
select count(*) from get_job_batch('worker', '{export}', batch_size => 2);
select set_limit('exports', tasks => '{export}', max_running => 3);
select is((select count(*) from _private_jobs where is_available and job_queue_id is null), 2501::bigint,
  'setting a limit moves no job');
select is((select count(*) from (select get_job_batch('worker', batch_size => 100) from generate_series(1, 60)) as b), 4::bigint,
          'jobs of other tasks start, and running jobs have slots of the limit');
select is((select count(*) from jobs where locked_by is not null and task_identifier = 'export'), 3::bigint,
  'three limited jobs run');
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 0::bigint,
  'no further limited job starts');
select complete_job('worker', id) from (select id from jobs where locked_by is not null and task_identifier = 'export' order by id limit 2) as j;
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 2::bigint,
  'as many limited jobs start as have ended');
select drop_limit('exports');
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 100::bigint,
  'a batch of all waiting jobs starts when the limit is dropped');
select is((select count(*) from (select get_job_batch('worker', batch_size => 1000) from generate_series(1, 30)) as b), 2395::bigint,
  'all other waiting jobs start when the limit is dropped');

select * from finish();
rollback;
