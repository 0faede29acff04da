-- The jobs of a batch run once, in order; those that succeed are deleted, and those that fail are kept as by fail_job, without
-- undoing their neighbours.
begin;
select plan(10);
\ir ../work_batch.psql

select pg_temp.jobs_to_do(1, 40), pg_temp.jobs_to_do(41, 41, 'raise'), pg_temp.jobs_to_do(42, 42, 'raise'), pg_temp.jobs_to_do(43, 70);
update _private_jobs set max_attempts = 1 where payload ->> 'n' = '42';
create temp table answer as select * from _gw_work_batch('w', 0, 'public.work', details => true, max_time => '1 hour');
select results_eq(
  $$ select n from public.effects $$,
  $$ select n from generate_series(1, 70) as n where n not in (41, 42) $$,
  'each job that succeeds has its effects once, in the order of jobs');
select results_eq(
  $$ select (payload ->> 'n')::integer, attempts::integer, run_at, job_state(run_at, attempts, max_attempts, locked_at), locked_by from _private_jobs order by id $$,
  $$ values (41, 1, now() + interval '2.718282 seconds', 'scheduled', null::text),
            (42, 1, now() + interval '2.718282 seconds', 'failed', null) $$,
  'the others wait for their back-off, or have failed permanently');
select is(
  (select last_error from _private_jobs where payload ->> 'n' = '41'),
  e'public.work: Not 41. (SQLSTATE P0001)\nDETAIL: Some detail.\nHINT: Some hint.\nCONTEXT: PL/pgSQL function work(json) line 5 at RAISE',
  'with the error as a worker stores it');
select results_eq(
  $$ select cardinality(ids), failed, states, attempts, maxima, locked, stopped_by from answer $$,
  $$ values (70, array[41, 42], array['scheduled', 'failed'], array[1, 1]::smallint[], array[25, 1]::smallint[], 70, null::text) $$,
  'the answer says so');
select results_eq(
  $$ select retry_in, cardinality(run_ats), run_ats[70], max_attempts[42] from answer $$,
  $$ values (array[2.718282, 2.718282]::double precision[], 70, now() - interval '1 minute', 1::smallint) $$,
  'and has the details');
select results_eq($$ select ids, failed from pg_temp.batch() $$, $$ values ('{}'::bigint[], '{}'::integer[]) $$, 'nothing is left for the next');

-- A handler that fails only at its first call: the job runs again when the worker looks for the one that fails.
create sequence public.calls;
create function public.fickle(payload json) returns void language plpgsql as $$
begin
  insert into public.effects values ((payload ->> 'n')::integer);
  if (payload ->> 'n')::integer = 105 and nextval('public.calls') = 1 then
    raise exception 'Not at first.';
  end if;
end;
$$;
truncate _private_jobs, public.effects;
select pg_temp.jobs_to_do(101, 110);
select results_eq($$ select cardinality(ids), failed from pg_temp.batch('public.fickle') $$, $$ values (10, '{}'::integer[]) $$, 'a job that succeeds after all is completed');
select results_eq($$ select n from public.effects $$, $$ select generate_series(101, 110) $$, 'and nothing was done twice');

create procedure public.step(payload jsonb) language plpgsql as $$
begin
  perform public.work(payload::json);
end;
$$;
truncate _private_jobs, public.effects;
select pg_temp.jobs_to_do(1, 3), pg_temp.jobs_to_do(4, 4, 'raise'), pg_temp.jobs_to_do(5, 8);
create temp table brief as select * from _gw_work_batch('w', 0, 'public.step', 'jsonb', true, max_time => '1 hour');
select results_eq(
  $$ select ran, ids, failed, states, run_ats from brief $$,
  $$ select 8, array[j.id], array[1], array['scheduled'], null::timestamptz[] from _private_jobs as j $$,
  'a procedure is called for each, and without details the answer has those that failed');
select results_eq($$ select n from public.effects $$, $$ values (1), (2), (3), (5), (6), (7), (8) $$, 'and undone for the one that fails');

select * from finish();
rollback;
