-- Contexts of deleted jobs, however they were deleted, are removed when new ones are stored and by the sweep.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.add(jobs integer)
  returns void
  language sql
as $$
  select _gw_put_job_contexts(array_agg(j.id), array_agg(j.revision), '{"trace": "one"}')
    from generate_series(1, jobs) as n
   cross join lateral add_job('task', json_build_object('n', n)) as j
$$;

create function pg_temp.spent()
  returns bigint
  language sql
as $$
  select count(*) from _gw_job_context as c where not exists (select from _private_jobs as j where j.id = c.job_id)
$$;

-- A queue in use: contexts come one at a time, and each job goes at once, beside two hundred that wait.
select pg_temp.add(200);
create temporary table waiting as select id from _private_jobs;
do $$
begin
  for n in 1 .. 2000 loop
    perform pg_temp.add(1);
    delete from graphile_worker._private_jobs as j where j.id = (select max(l.id) from graphile_worker._private_jobs as l);
  end loop;
end
$$;
select is(
  (select count(*) from _gw_job_context join waiting on id = job_id), (select count(*) from waiting),
  'waiting jobs still have their contexts');
select cmp_ok(pg_temp.spent(), '<', 1000::bigint, 'two thousand deleted jobs leave less than a thousand contexts');

delete from _private_jobs;
select tidy();
select is((select count(*) from _gw_job_context), 0::bigint, 'the sweep deletes all contexts of deleted jobs');

select pg_temp.add(3);
delete from _private_jobs where id not in (select max(id) from _private_jobs);
select setval('_gw_job_context_cursor', 0);
select is(_gw_drop_spent_rows('_gw_job_context', 1), 1::bigint, 'a call checks at most the given number of contexts');
select is(_gw_drop_spent_rows('_gw_job_context', 9), 1::bigint, 'the next call continues where the first has ended');
select is((select count(*) from _gw_job_context), 1::bigint, 'the context of the waiting job is kept');

select * from finish();
rollback;
