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
select is((select payload::text from claimed), '1', 'the head job comes first');
select is_empty($$ select id from get_job('worker') $$, 'while it runs no other comes, not even to the same worker');

select ok(exists (select from return_job('worker', id, lease)), 'returned') from claimed;
create temp table again as select * from get_job('worker');
select is((select payload::text from again), '1', 'it is the head job again');

select ok(exists (select from fail_job('worker', id, 'no luck', lease)), 'failed') from again;
create temp table second as select * from get_job('worker');
select is((select payload::text from second), '2', 'it waits, and the next one comes');

select ok(complete_job('worker', id, lease), 'completed') from second;
select is((select payload::text from get_job('worker')), '3', 'it is deleted, and the next one can be claimed');
select is_empty($$ select id from get_job('worker') $$, 'a job that is not due waits, although its priority comes first');

select * from finish();
rollback;
