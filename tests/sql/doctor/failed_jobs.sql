-- Tasks with many permanently failed jobs are reported, with their most frequent error and a statement that retries them; and a thousand
-- failed jobs in total. No remedy begins with their deletion.
begin;
select plan(11);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select json_populate_record(null::job_spec, json_build_object('identifier', e'pay\n''em'))
                                      from generate_series(1, 101)));
select permanently_fail_jobs(array(select max(id) from jobs), 'other');
select count(*) from permanently_fail_jobs(array(select id from jobs where attempts = 0 order by id limit 98), 'card 4711 is refused');
select is_empty($$ select * from doctor() $$, '99 failed jobs of a task are not reported');
select count(*) from permanently_fail_jobs(array(select min(id) from jobs where attempts = 0), e'\ncard 4712 is refused\nat pay.js');
update _private_jobs set updated_at = now() - interval '3 hours' where id = (select min(id) from _private_jobs);
-- A job of a task whose name was lost is none of them.
select add_job('lost');
select permanently_fail_jobs(array(select max(id) from jobs), 'lost');
delete from _private_tasks where identifier = 'lost';
select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('warning', 'failing task', e'task pay\n''em',
             'Permanently failed jobs: 100, the first 03:00:00 ago, the last 00:00:00 ago. The most frequent error has 99: card * is refused') $$,
  'a hundred failed jobs of a task are reported');
update _private_jobs set updated_at = now() - interval '25 hours';
select is_empty($$ select * from doctor() $$, 'failed jobs are not reported if the last one failed long ago');
update _private_jobs set updated_at = now() where id = (select min(id) from _private_jobs);
do $$ declare statement text; begin
  select d.command into strict statement from graphile_worker.doctor() as d where d.finding = 'failing task';
  execute statement;
end $$;
select is_empty($$ select * from doctor() $$,
  'the command of the finding retries the failed jobs, which ends the finding');
select is((select count(*) from jobs where task_identifier = e'pay\n''em' and attempts = 0), 101::bigint,
  'all failed jobs of the task have been retried');

delete from _private_jobs;
select count(*) from add_jobs(array(
  select json_populate_record(null::job_spec, json_build_object('identifier', 'task' || n % 20)) from generate_series(1, 1001) as n));
update _private_jobs set attempts = max_attempts where id > (select min(id) from _private_jobs);
update _private_jobs set locked_at = now(), locked_by = 'worker' where id = (select max(id) from _private_jobs);
select is_empty($$ select * from doctor() $$,
  '999 failed jobs of all tasks are not reported, nor is one that runs for the last time');

update _private_jobs set locked_at = null, locked_by = null;
select results_eq(
  $$ select severity, finding, subject, detail, command from doctor() $$,
  $$ values ('info', 'failed jobs', 'table _private_jobs',
             'Permanently failed jobs: 1000. They stay until they are retried or deleted; each search for stale locks reads them all.',
             'select * from graphile_worker.error_groups();') $$,
  'a thousand failed jobs of all tasks are reported');
select matches((select remedy from doctor()), '^Retry .* delete the others only if nobody needs them',
  'the remedy does not delete the failed jobs first');
select is((select sum(jobs) from error_groups(max_rows => 20)), 1000::numeric,
  'the command of the finding shows the errors of all failed jobs');

-- Of many a part is read.
update _private_jobs set last_error = 'HTTP ' || 500 + id % 2;
select results_eq($$ select detail ~ 'jobs: about (9[0-9]{2}|10[0-9]{2})\.' from _gw_find_failed_jobs(pages => 100, threshold => 900) $$, $$ values (true) $$,
                  'the number of failed jobs is an estimate if only a part of the jobs is read');
select set_eq($$ select finding from _gw_find_failed_jobs(pages => 100, of_task => 20, threshold => 900) $$, array['failing task', 'failed jobs'],
  'failed jobs of a task are reported if only a part of the jobs is read');

select * from finish();
rollback;
