-- A worker can give the time of the next attempt, instead of the back-off.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', run_at => now() + interval '1 hour');
create function pg_temp.run_at_after(call text)
  returns timestamptz
  language plpgsql
as $$
declare
  job_id bigint;
begin
  select id into job_id from get_job('worker', now => 'infinity');
  execute 'select ' || call using job_id;
  return (select run_at from _private_jobs);
end;
$$;

select is(pg_temp.run_at_after($$ fail_job('worker', $1, 'wait', retry_at => now() + interval '5 minutes') $$),
          now() + interval '5 minutes', 'retry_at is taken as it is');
select is(pg_temp.run_at_after($$ fail_job('worker', $1, 'wait', retry_in => interval '7 minutes') $$),
          now() + interval '7 minutes', 'retry_in counts from now');
select is(pg_temp.run_at_after($$ fail_job('worker', $1, 'wait', retry_in => interval '0') $$),
          now(), 'a retry_in of zero makes the job due at once');
select throws_ok(
  $$ select fail_job('worker', 1, 'wait', retry_at => now(), retry_in => '1 minute') $$,
  'GWWRT', 'Give retry_at or retry_in, not both.');
select is((select attempts from _private_jobs), 3::smallint, 'each failure with a retry time counts as an attempt');

select * from finish();
rollback;
