-- keep_task() refuses arguments that cannot work, and changes how later records are kept.
begin;
select plan(11);
set local search_path = graphile_worker, public;

select hasnt_trigger('_private_jobs', '_gw_jobs_ended', 'the table of jobs has no trigger while no task is kept');
select throws_ok($$ select keep_task(null, '1 day') $$, 'GWBNI', 'Task identifier must not be null.',
  'a task identifier that is null is refused');
select throws_ok($$ select keep_task(repeat('t', 129), '1 day') $$, 'GWBID', null,
  'a task identifier that is too long is refused');
select throws_ok($$ select keep_task('task', null) $$, 'GWKFR', 'keep_for must be positive and at most 100 years, not null.',
  'a time that is null is refused');
select throws_ok($$ select keep_task('task', '0') $$, 'GWKFR', null, 'a time of zero is refused');
select throws_ok($$ select keep_task('task', '101 years') $$, 'GWKFR', null,
  'a time of more than 100 years is refused');
select lives_ok($$ select keep_task('task', '30 days') $$, 'a task that no job has had can be kept');
select has_trigger('_private_jobs', '_gw_jobs_ended', 'the table of jobs has a trigger when a task is kept');
select keep_task('task', '7 days', payloads => true, results => true);
select results_eq($$ select task, keep_for, payloads, results from list_kept_tasks() $$,
  $$ values ('task', interval '7 days', true, true) $$, 'a second call of keep_task() replaces the first');
select ok(stop_keeping_task('task'), 'stop_keeping_task() returns true for a kept task');
select ok(not stop_keeping_task('task'), 'stop_keeping_task() returns false for a task that is not kept');

select * from finish();
rollback;
