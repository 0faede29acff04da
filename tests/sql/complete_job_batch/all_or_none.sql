-- A transaction whose caller does not read the result before its commit completes all of its jobs, or fails with the
-- jobs that the worker does not hold.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('task', json_build_object('n', n)) from generate_series(1, 3) as n;
create temp table claimed as
  select b.id, b.lease, row_number() over (order by b.id) as n from get_job_batch('worker', array['task'], 3) as b;

create function pg_temp.complete(worker_id text, numbers integer[], stale integer default null)
  returns text
  language plpgsql
as $$
declare
  code text;
  ids  text;
begin
  perform _gw_complete_all(
    worker_id,
    array(select c.id from claimed as c where c.n = any (numbers) order by c.n),
    array(select c.lease - (c.n is not distinct from stale)::integer from claimed as c where c.n = any (numbers) order by c.n));
  return 'done';
exception when others then
  get stacked diagnostics code = returned_sqlstate, ids = pg_exception_detail;
  return code || ' ' || (
    select coalesce(string_agg(c.n::text, ',' order by c.n), '')
      from claimed as c where c.id::text = any (string_to_array(ids, ',')));
end;
$$;

select is(pg_temp.complete('other', array[1, 2]), 'GWWLL 1,2',
  'a batch of another worker is refused with the ids of all of its jobs');
select is(pg_temp.complete('worker', array[1, 2, 3], 2), 'GWWLL 2',
  'a batch with an outdated lease is refused with the id of its job');
select is((select count(*) from _private_jobs), 3::bigint, 'a refused batch completes none of its jobs');
select is(pg_temp.complete('worker', array[1, 3]), 'done', 'the worker can complete the jobs that it holds');
select set_eq(
  'select j.id from _private_jobs as j', 'select c.id from claimed as c where c.n = 2',
  'the completed jobs of the batch are deleted');
select is(pg_temp.complete('worker', array[1, 2]), 'GWWLL 1',
  'a batch with a job that no longer exists is refused with its id');
select throws_ok(
  $$ select _gw_complete_all('worker', array[1, 2]::bigint[], array[1]::bigint[]) $$, 'GWWOB', null,
  'a batch with fewer leases than jobs is refused');
select is(pg_temp.complete('worker', array[2]), 'done', 'a batch of a single job can be completed');

select * from finish();
rollback;
