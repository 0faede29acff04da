-- A role without rights on the schema adds jobs through a SECURITY DEFINER function, which checks its arguments. The
-- function sets its search_path, so that objects of the caller cannot run with the owner's rights.
begin;
select plan(7);

create role gw_test_app;
create schema api;

create function api.request_report(
  month date
)
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if month > current_date then
    raise exception 'There is no report for the future.' using errcode = '22023';
  end if;
  return (graphile_worker.add_job(
    'report', json_build_object('month', month), job_key => 'report:' || month, max_attempts => 5)).id;
end;
$$;

revoke all on function api.request_report(date) from public;
grant usage on schema api to gw_test_app;
grant execute on function api.request_report(date) to gw_test_app;

-- The caller's own idea of now() and of text joining, first in its path.
create schema gw_test_trap;
create function gw_test_trap.now() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$;
grant usage on schema gw_test_trap to gw_test_app;
set local role gw_test_app;
set local search_path = gw_test_trap, pg_catalog, public;

select lives_ok($$ select api.request_report('2020-01-01') $$, 'the role adds a job by the function');
select throws_ok($$ select api.request_report('infinity') $$, '22023', 'There is no report for the future.',
                 'the function checks the arguments');
select throws_ok($$ select graphile_worker.add_job('anything') $$, '42501', null,
  'the role cannot call add_job itself');
select throws_ok($$ select * from graphile_worker.jobs $$, '42501', null, 'the role cannot read the jobs');

reset role;
set local search_path = public;
select results_eq(
  $$ select task_identifier, key, max_attempts, run_at from graphile_worker.jobs $$,
  $$ values ('report', 'report:2020-01-01', 5::smallint, now()) $$,
  'the job was added, and no object of the caller was used');
select is((select proconfig from pg_proc where oid = 'api.request_report(date)'::regprocedure),
          array['search_path=pg_catalog, pg_temp'], 'the function has its search_path set');
select ok(not has_function_privilege('public', 'api.request_report(date)', 'execute'),
  'PUBLIC may not call the function');

select * from finish();
rollback;
