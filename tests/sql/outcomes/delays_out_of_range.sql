-- A delay beyond the range of times makes a job never due, or due at once; it is not an error, which the worker could
-- not report.
begin;
select plan(13);
set local search_path = graphile_worker, public;

select add_job('task');
-- The run_at that a report leads to, of a job that is claimed whenever it is due.
create function pg_temp.run_at_after(call text)
  returns timestamptz
  language plpgsql
as $$
declare
  job_id bigint;
begin
  select id into job_id from get_job('worker', now => 'infinity');
  execute 'select ' || call using job_id;
  return (select run_at from _private_jobs where locked_at is null);
end;
$$;

select is(pg_temp.run_at_after(format($$ fail_job('worker', $1, 'wait', retry_in => %L) $$, delay)), run_at, 'retry_in ' || delay)
  from (values ('178000000 years', 'infinity'::timestamptz), ('2147483647 days', 'infinity'), ('-178000000 years', '-infinity'),
               ('292 years', now() + interval '292 years')) as d (delay, run_at);
select is(pg_temp.run_at_after(format($$ fail_job_batch('worker', json_build_array(json_build_object('id', $1, 'retry_in', %s))) $$, delay)),
          run_at, 'retry_in of a batch ' || delay)
  from (values ('1e308', 'infinity'::timestamptz), ('-1e308', '-infinity'), ('9223372036', now() + 9223372036 * interval '1 second')) as d (delay, run_at);
select throws_ok($$ select fail_job_batch('worker', '[{"id": 1, "retry_in": "NaN"}]') $$, 'GWWRT', 'retry_in must be a number: job 1.');
select is(pg_temp.run_at_after(format($$ return_job('worker', $1, run_in => %L) $$, delay)), run_at, 'run_in ' || delay)
  from (values ('178000000 years', 'infinity'::timestamptz), ('-178000000 years', '-infinity')) as d (delay, run_at);

-- What a worker has claimed with another now.
update _private_jobs set run_at = at, attempts = 0 from unnest(array['294276-12-31 23:59:59Z'::timestamptz]) as at;
select is(pg_temp.run_at_after($$ fail_job('worker', $1, 'oh') $$), '294276-12-31 23:59:59Z', 'no back-off leads past the last year');
update _private_jobs set run_at = 'infinity', attempts = 0;
select is(pg_temp.run_at_after($$ fail_job('worker', $1, 'oh') $$), 'infinity',
  'a job at infinity that fails stays at infinity');
update _private_jobs set run_at = '-infinity', attempts = 0;
select is(pg_temp.run_at_after($$ fail_job('worker', $1, 'oh') $$), now() + backoff(1), 'the back-off of a job at -infinity counts from now');

select * from finish();
rollback;
