-- A queue of which a claim holds several jobs is free when the last of them has ended, whatever their order and their outcomes.
begin;
select plan(19);
set local search_path = graphile_worker, public;

create temp table claimed (id bigint, lease bigint, number bigint);
create function pg_temp.claim(n integer) returns void language sql as $$
  select graphile_worker.add_jobs(array(select row('task', to_json(i), 'q', null, null, null, null, null)::graphile_worker.job_spec
                                          from generate_series(1, n) as i));
  delete from claimed;
  insert into claimed
  select b.id, b.lease, row_number() over (order by b.id) from graphile_worker.get_job_batch('worker', batch_size => 99, queue_batch => n) as b;
$$;
create function pg_temp.is_free() returns boolean language sql as $$
  select locked_at is null and locked_by is null from graphile_worker._private_job_queues where queue_name = 'q'
$$;
create temp table ends (number integer, name text, statement text);
insert into ends values
  (1, 'complete_job', $$ select complete_job('worker', id, lease) from claimed where number = %s $$),
  (2, 'complete_job without lease', $$ select complete_job('worker', id) from claimed where number = %s $$),
  (3, 'complete_job_batch', $$ select complete_job_batch('worker', array[id], array[lease]) from claimed where number = %s $$),
  (4, '_gw_complete_claim', $$ select _gw_complete_claim('worker', array[id], lease) from claimed where number = %s $$),
  (5, '_gw_complete_all', $$ select _gw_complete_all('worker', array[id], array[lease]) from claimed where number = %s $$),
  (6, 'fail_job', $$ select fail_job('worker', id, 'no luck', lease) from claimed where number = %s $$),
  (7, 'fail_job without lease', $$ select fail_job('worker', id, 'no luck') from claimed where number = %s $$),
  (8, 'return_job', $$ select return_job('worker', id, lease) from claimed where number = %s $$),
  (9, 'return_job without lease', $$ select return_job('worker', id) from claimed where number = %s $$),
  (10, 'rate_limited', $$ select rate_limited('worker', id, lease, '1 hour') from claimed where number = %s $$),
  (11, 'return_unknown_jobs', $$ select return_unknown_jobs('worker', array(select id from claimed where number <> %s)) $$);
-- Ends the job with this number by this statement; returns whether the queue is free.
create function pg_temp.ends(kind integer, job integer) returns boolean language plpgsql as $$
begin
  execute format((select statement from ends where number = kind), job);
  return pg_temp.is_free();
end;
$$;

select pg_temp.claim(11);
select ok(not pg_temp.ends(number, 12 - number), name || ', of a later job first') from ends where number < 11 order by number;
select ok(pg_temp.ends(11, 1), 'the end of the last job by return_unknown_jobs frees the queue');
delete from _private_jobs;
select pg_temp.claim(11);
select ok(not pg_temp.ends(number, number + 1), name || ' is not the last one') from ends where number between 6 and 10 order by number desc;
select complete_job_batch('worker', array(select id from claimed where number > 1 and number < 7), null);
select ok(not pg_temp.is_free(), 'the queue is locked while its first job is left');
select ok(pg_temp.ends(2, 1), 'the queue is free when the first job has ended last');

select pg_temp.claim(3);
select complete_job_batch('worker', array(select id from claimed), array(select lease from claimed));
select ok(pg_temp.is_free(), 'the queue is free when all jobs have ended in one batch');

select * from finish();
rollback;
