-- Sweeps of limits that had to mend rows several times within a day are reported.
begin;
select plan(4);
set local search_path = graphile_worker, public;

insert into _gw_mends (mended, at) values (5, now() - interval '25 hours'), (2, now() - interval '3 hours'), (1, now() - interval '2 hours');
select is_empty($$ select * from doctor() $$, 'two sweeps of a day that have mended rows are not reported');
insert into _gw_mends (mended, at) values (4, now() - interval '1 hour');
select results_eq($$ select severity, finding, subject, detail from doctor() $$,
                  $$ values ('info', 'mended limits', 'table _private_jobs',
                             'In the last 1 day, 3 sweeps have mended limits: 7 rows, the last ones 01:00:00 ago. Until then, jobs waited that might have run.') $$,
                  'three sweeps of a day that have mended rows are reported with their rows');

delete from _gw_mends;
select set_limit('one', '{task}', by => 'payload:key', max_running => 1);
select add_job('task', '{"key": 1}') from generate_series(1, 2);
select count(*) from get_job_batch('worker', batch_size => 9);
select _gw_sweep_limits();
select is_empty('select from _gw_mends', 'a sweep without anything to mend stores no record');
delete from _private_jobs where locked_at is not null;
select _gw_sweep_limits();
select isnt_empty('select from _gw_mends', 'a sweep that mends a gate stores a record');

select * from finish();
rollback;
