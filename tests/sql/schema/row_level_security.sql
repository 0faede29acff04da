-- Row level security without a policy keeps rows from everybody but the owner, whatever is granted to them.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select c.relname, c.relrowsecurity, c.relforcerowsecurity
       from pg_class as c
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and c.relname <> '_gw_schema_version'
      order by c.relname $$,
  $$ values ('_gw_breaking_versions'::name, false, false), ('_gw_cancels', true, false), ('_gw_claim_cursors', true, false), ('_gw_cron_patterns', true, false), ('_gw_grants', true, false), ('_gw_installed', true, false), ('_gw_job_context', true, false),
            ('_gw_recovery', true, false), ('_gw_schedules', true, false), ('_gw_settings', true, false),
            ('_gw_sleepers', true, false), ('_gw_suspects', true, false), ('_gw_turns', true, false), ('_gw_workers', true, false),
            ('_private_job_queues', true, false), ('_private_jobs', true, false),
            ('_private_known_crontabs', true, false), ('_private_tasks', true, false),
            ('migrations', false, false) $$,
  'it is on, not forced, everywhere but in the two ledgers');
select is_empty(
  $$ select policyname from pg_policies where schemaname = 'graphile_worker' $$,
  'there is no policy');

select add_job('task');
create role gw_test_reader;
grant usage on schema graphile_worker to gw_test_reader;
grant select, insert on all tables in schema graphile_worker to gw_test_reader;
set local role gw_test_reader;
select is_empty($$ select id from _private_jobs $$, 'a role that was granted select sees no row');
select throws_ok(
  $$ insert into _private_tasks (identifier) values ('mine') $$,
  '42501', null,
  'a role that was granted insert cannot use it');
reset role;
select is((select count(*) from _private_jobs), 1::bigint, 'the owner sees the job');

select * from finish();
rollback;
