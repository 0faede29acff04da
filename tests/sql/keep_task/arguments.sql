-- keep_task() refuses arguments that cannot work, and changes how later records are kept.
begin;
select plan(11);
set local search_path = graphile_worker, public;

select hasnt_trigger('_private_jobs', '_gw_jobs_ended', 'a database that keeps nothing has no trigger on the jobs');
select throws_ok($$ select keep_task(null, '1 day') $$, 'GWBNI', 'Task identifier must not be null.', 'a task needs a name');
select throws_ok($$ select keep_task(repeat('t', 129), '1 day') $$, 'GWBID', null, 'which is not too long');
select throws_ok($$ select keep_task('task', null) $$, 'GWKFR', 'keep_for must be positive and at most 100 years, not null.', 'a time is required');
select throws_ok($$ select keep_task('task', '0') $$, 'GWKFR', null, 'which is positive');
select throws_ok($$ select keep_task('task', '101 years') $$, 'GWKFR', null, 'and not too long');
select lives_ok($$ select keep_task('task', '30 days') $$, 'a task that no job has had can be kept');
select has_trigger('_private_jobs', '_gw_jobs_ended', 'then there is a trigger');
select keep_task('task', '7 days', payloads => true, results => true);
select results_eq($$ select task, keep_for, payloads, results from list_kept_tasks() $$,
  $$ values ('task', interval '7 days', true, true) $$, 'a second call replaces the first');
select ok(stop_keeping_task('task'), 'the task is kept no more');
select ok(not stop_keeping_task('task'), 'and was not any more');

select * from finish();
rollback;
