-- A named queue runs one job at a time, in order; the next one can be claimed as soon as the previous one has ended in
-- any way.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task', '2', 'queue'),
       add_job('task', '3', 'queue'),
       add_job('task', '1', 'queue', priority => -1),
       add_job('task', '4', 'queue', run_at => now() + interval '1 hour', priority => -9);

create temp table claimed as select * from get_job('worker');
select is((select payload::text from claimed), '1', 'the head job of the queue is claimed first');
select is_empty($$ select id from get_job('worker') $$,
  'while the head job runs no other is claimed, not even by the same worker');

select ok(exists (select from return_job('worker', id, lease)), 'the head job can be returned') from claimed;
create temp table again as select * from get_job('worker');
select is((select payload::text from again), '1', 'the returned head job is claimed again');

select ok(exists (select from fail_job('worker', id, 'no luck', lease)), 'the head job can fail') from again;
create temp table second as select * from get_job('worker');
select is((select payload::text from second), '2', 'the failed job waits, and the next one is claimed');

select ok(complete_job('worker', id, lease), 'the second job can be completed') from second;
select is((select payload::text from get_job('worker')), '3',
  'the completed job is deleted, and the next one can be claimed');
select is_empty($$ select id from get_job('worker') $$,
  'a job that is not due waits, although it has the first priority');

select * from finish();
rollback;
