-- Whatever frees a queue that is paused gives it to the pause, unless its time is over.
begin;
select plan(10);
set local search_path = graphile_worker, public;

select register_worker('worker');
select add_job('task', queue_name => queue) from unnest(array['paused', 'paused for a time', 'no more', 'free']) as queue;
insert into _gw_limit_changes default values;
insert into _gw_pauses (queue_name, until)
values ('paused', null), ('paused for a time', clock_timestamp() + interval '1 hour'), ('no more', clock_timestamp() - interval '1 second');

-- Checks who has the queues after a call that ends the jobs of the worker.
create function pg_temp.ends(call text)
  returns setof text
  language plpgsql
as $$
begin
  update _private_jobs set locked_at = now() - interval '5 hours', locked_by = 'gone', attempts = 1;
  update _private_job_queues set locked_at = now() - interval '5 hours', locked_by = 'gone';
  execute format('select * from (select array_agg(id) as ids from _private_jobs) as j cross join lateral (%s) as c', call);
  return next results_eq(
    'select queue_name, locked_by, locked_at from _private_job_queues order by 1',
    $x$ values ('free', null, null), ('no more', null, null), ('paused', 'pause', now()), ('paused for a time', 'pause', now()) $x$, call);
end;
$$;

select pg_temp.ends('select return_job_batch(''gone'', ids)');
select pg_temp.ends('select fail_job_batch(''gone'', (select json_agg(json_build_object(''id'', u)) from unnest(ids) as u))');
select pg_temp.ends('select reset_stale_locks()');
select pg_temp.ends('select force_unlock_workers(''{gone}'')');

-- A queue that its pause holds is neither stale nor orphaned.
update _private_job_queues set locked_at = now() - interval '5 hours' where locked_by = 'pause';
select is(reset_stale_locks(), 0::bigint, 'reset_stale_locks() frees no job');
select is((select count(*) from _private_job_queues where locked_by = 'pause'), 2::bigint,
  'reset_stale_locks() frees no paused queue');
select throws_ok('select force_unlock_workers(''{worker,pause}'')', 'GWWID', null,
  'force_unlock_workers() refuses the pause as a worker');
select is((select count(*) from _private_job_queues where locked_by = 'pause'), 2::bigint,
  'a refused call frees no paused queue');

select pg_temp.ends('select complete_job(''gone'', u) from unnest(ids) as u');
insert into _private_jobs (task_id, job_queue_id) select 1, id from _private_job_queues;
select pg_temp.ends('select _gw_complete_claim(''gone'', ids, null)');

select * from finish();
rollback;
