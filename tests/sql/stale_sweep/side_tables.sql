-- The sweep and cleanup() delete unneeded rows from the side tables, even if no worker sends heartbeats.
begin;
select plan(6);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

create function pg_temp.leave_behind()
  returns void
  language plpgsql
as $$
begin
  delete from _private_jobs;
  perform add_job('task', job_key => k) from unnest(array['runs', 'ends']) as k;
  perform get_job_batch('worker', batch_size => 2);
  perform cancel_jobs(array(select id from _private_jobs), 'no need');
  perform add_job('task', job_key => k) from unnest(array['waits', 'goes']) as k;
  perform pg_temp.suspect(id) from jobs where key in ('waits', 'goes');
  insert into _gw_sleepers values ('sleeps', now() + interval '1 minute'), ('slept', now() - interval '1 minute');
  perform register_worker(w) from unnest(array['here', 'gone']) as w;
  update _gw_workers set last_seen_at = now() - interval '25 hours' where id = 'gone';
  delete from _private_jobs where key in ('ends', 'goes');
end;
$$;
create view pg_temp.left_over as
select 'canceled' as what, j.key from _gw_cancels as c left join _private_jobs as j on j.id = c.job_id
union all
select 'suspect', j.key from _gw_suspects as s left join _private_jobs as j on j.id = s.job_id
union all
select 'sleeper', s.worker_id from _gw_sleepers as s
union all
select 'worker', w.id from _gw_workers as w;

select pg_temp.leave_behind();
select is((select count(*) from pg_temp.left_over), 8::bigint, 'each side table has two rows');
select tidy();
select set_eq($$ select what, key from pg_temp.left_over $$,
              $$ values ('canceled', 'runs'), ('suspect', 'waits'), ('sleeper', 'sleeps'), ('worker', 'here') $$,
              'tidy() keeps only the rows that are needed');

delete from _gw_sleepers;
select pg_temp.leave_behind();
select is((select count(*) from pg_temp.left_over), 10::bigint,
  'the side tables have eight new rows and two of jobs that are gone');
select is_empty($$ select * from cleanup('{}') $$, 'cleanup() returns only the tasks that it was given');
select set_eq($$ select what, key from pg_temp.left_over $$,
              $$ values ('canceled', 'runs'), ('suspect', 'waits'), ('sleeper', 'sleeps'), ('worker', 'here') $$,
              'cleanup() keeps only the rows that are needed');
select is((select count(*) from _private_jobs), 2::bigint, 'cleanup() deletes no job');

select * from finish();
rollback;
