-- Two limits together limit a task in named queues that stay serial.
begin;
select plan(5);
set local search_path = graphile_worker, public;

create function pg_temp.claimed() returns text as $body$
  select coalesce(string_agg(b.key, ' ' order by b.key), '') from get_job_batch('worker', batch_size => 10) as b
$body$ language sql;
create function pg_temp.ended(job_key text) returns void as $body$
  select complete_job('worker', j.id) from jobs as j where j.key = job_key
$body$ language sql;

select set_limit('uploads', tasks => '{upload}', queues => '*', max_running => 3);
select set_limit('upload queues', tasks => '{upload}', queues => '*', by => 'queue', max_running => 1);
select get_job_batch('worker') from generate_series(1, 9);
select add_job('upload', job_key => queue || n, queue_name => queue) from (select n, queue from generate_series(1, 2) as n, unnest(array['a', 'b', 'c', 'd']) as queue order by n, queue) as q;
select is(pg_temp.claimed(), 'a1 b1 c1', 'one job of each queue starts, and no more than the limit of the task');
select pg_temp.ended('a1');
select is(pg_temp.claimed(), 'd1', 'the next job follows in the order of all queues');
select is(pg_temp.claimed(), '', 'and no other');
select pg_temp.ended('d1'), pg_temp.ended('b1');
select is(pg_temp.claimed(), 'a2 b2', 'and a queue starts its next job when the one before has ended');
select add_job('other', job_key => 'other', queue_name => 'b');
select is(pg_temp.claimed(), 'other', 'a job of another task in the queue is not limited');

select * from finish();
rollback;
