-- A limit applies to jobs in named queues, too, which stay serial and in order: at most one job of each queue runs, and no more than the
-- limit allows.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.claimed() returns text as $body$
  select coalesce(string_agg(b.key, ' ' order by b.key), '') from get_job_batch('worker', batch_size => 10) as b
$body$ language sql;
create function pg_temp.ended(job_key text) returns void as $body$
  select complete_job('worker', j.id) from jobs as j where j.key = job_key
$body$ language sql;

select set_limit('uploads', tasks => '{upload}', max_running => 3);
select add_job('upload', job_key => queue || n, queue_name => queue) from (select n, queue from generate_series(1, 2) as n, unnest(array['a', 'b', 'c', 'd']) as queue order by n, queue) as q;
select is(pg_temp.claimed(), 'a1 b1 c1', 'one job of each queue starts, and no more than the limit');
select pg_temp.ended('a1');
select is(pg_temp.claimed(), 'd1', 'the next job to start is the first one of all free queues');
select is(pg_temp.claimed(), '', 'no other job starts while the limit is full');
select pg_temp.ended('d1'), pg_temp.ended('b1');
select is(pg_temp.claimed(), 'a2 b2', 'a queue starts its next job when the one before has ended');
select add_job('other', job_key => 'other', queue_name => 'e');
select is(pg_temp.claimed(), 'other', 'a job of another task is not limited');
select drop_limit('uploads');
select is(pg_temp.claimed(), 'd2', 'the free queue starts its next job when the limit is dropped');
select pg_temp.ended('c1');
select is(pg_temp.claimed(), 'c2', 'each queue starts its jobs in order when the limit is dropped');

select * from finish();
rollback;
