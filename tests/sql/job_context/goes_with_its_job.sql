-- Contexts of deleted jobs, however they were deleted, are removed when new ones are stored and by the sweep.
begin;
select plan(9);
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

select setval('_gw_job_context_cursor', 0);
select pg_temp.add(10);
delete from _private_jobs where id in (select id from _private_jobs order by id limit 5);
select is(pg_temp.spent(), 5::bigint, 'a deleted job leaves its context');
select pg_temp.add(1);
select is(pg_temp.spent(), 2::bigint, 'the next one checks four contexts, its own included');
select pg_temp.add(1);
select is(pg_temp.spent(), 0::bigint, 'and the one after it continues from there');
select is((select count(*) from _gw_job_context), 7::bigint, 'waiting jobs keep theirs');

-- A queue in use: contexts come one at a time, and each job goes at once, beside two hundred that wait.
select pg_temp.add(200);
create temporary table waiting as select id from _private_jobs;
do $$
begin
  for n in 1 .. 400 loop
    perform pg_temp.add(1);
    delete from graphile_worker._private_jobs as j where j.id = (select max(l.id) from graphile_worker._private_jobs as l);
  end loop;
end
$$;
select is(
  (select count(*) from _gw_job_context join waiting on id = job_id), (select count(*) from waiting),
  'waiting jobs still have theirs');
select cmp_ok(pg_temp.spent(), '<=', (select count(*) from waiting), 'and there are never more unneeded contexts than waiting jobs');

delete from _private_jobs;
select stale_sweep();
select is((select count(*) from _gw_job_context), 0::bigint, 'the sweep deletes the rest');

select pg_temp.add(3);
delete from _private_jobs;
select is(_gw_drop_spent_contexts(2), 2::bigint, 'one call checks at most the given number');
select is(_gw_drop_spent_contexts(2), 1::bigint, 'and returns the number of deleted contexts');

select * from finish();
rollback;
