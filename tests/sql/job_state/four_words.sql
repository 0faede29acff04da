-- job_state() returns one of four states for each job, and all functions that count jobs use it.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select job_state(now() + d.due_in, d.attempts, 3, case when d.is_held then now() end)
       from (values (interval '0', 0, false), ('-1 second', 2, false), ('1 second', 0, false), ('0', 3, false),
                    ('1 second', 4, false), ('0', 3, true), ('1 second', 0, true)) as d (due_in, attempts, is_held) $$,
  $$ values ('ready'), ('ready'), ('scheduled'), ('failed'), ('failed'), ('running'), ('running') $$,
  'job_state() returns running for claimed jobs, failed for those without attempts left');

select add_job(t, queue_name => 'q') from unnest(array['a', 'a', 'b']) as t;
select add_job('a', run_at => 'infinity');
select add_job('b', job_key => 'running', priority => -1), add_job('b', job_key => 'failed');
update _private_jobs set locked_at = now(), locked_by = 'w' where key = 'running';
update _private_jobs set attempts = max_attempts where key = 'failed';
select results_eq(
  $$ select ready, scheduled, running, failed from queue_depth() $$,
  $$ select count(*) filter (where s = 'ready'), count(*) filter (where s = 'scheduled'),
            count(*) filter (where s = 'running'), count(*) filter (where s = 'failed')
       from jobs cross join job_state(run_at, attempts, max_attempts, locked_at) as s $$,
  'queue_depth() counts jobs by job_state()');
select results_eq(
  $$ select sum(ready)::int, sum(scheduled)::int, sum(running)::int, sum(failed)::int from list_tasks() $$,
  $$ values (3, 1, 1, 1) $$,
  'list_tasks() counts jobs by job_state()');

create function pg_temp.plan_of(query text)
  returns setof text
  language plpgsql
as $$ begin return query execute 'explain (verbose, costs off) ' || query; end $$;
select doesnt_match(
  (select string_agg(p, ' ') from pg_temp.plan_of('select job_state(run_at, attempts, max_attempts, locked_at) from graphile_worker._private_jobs') as p),
  'job_state', 'job_state() is inlined into queries');

select * from finish();
rollback;
