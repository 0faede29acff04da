-- What a pause applies to is in columns: no name of a queue, a task or a limit looks like a pause of another.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => '*');
select add_job('task', queue_name => 'other');
select add_job('task');
select pause(queue => '*');
select results_eq(
  $$ select j.queue_name from get_job_batch('w', null, 10) as g join jobs as j on j.id = g.id order by j.id $$, $$ values ('other'), (null) $$,
  'a pause of a queue named * holds back no other queue');
select results_eq($$ select task, queue, limit_name from list_pauses() $$, $$ values (null::text, '*', null::text) $$,
  'the pause of a queue named * is listed with this name');
select resume(queue => '*');

select set_limit('pause:queue:x', tasks => array['limited'], max_running => 1);
select lives_ok($$ select pause(queue => 'x') $$, 'a limit may have the name of a pause');
select pause(task => 'pause:queue:x', reason => 'the task');
select pause(limit_name => 'pause:queue:x', reason => 'the limit');
select pause(reason => 'all');
select is((select count(*) from list_pauses()), 4::bigint, 'each pause of the same name is listed');
select is((select count(*) from list_limits()), 1::bigint, 'no pause is listed as a limit');
select ok(resume(), 'the pause of everything can be resumed alone');
select ok(resume(task => 'pause:queue:x'), 'the pause of the task can be resumed alone');
select results_eq(
  $$ select queue, limit_name from list_pauses() $$, $$ values ('x', null), (null, 'pause:queue:x') $$,
  'the pauses of the queue and the limit stay');
select drop_limit('pause:queue:x');
select results_eq($$ select queue from list_pauses() $$, $$ values ('x') $$,
  'dropping the limit ends its own pause only');

select * from finish();
rollback;
