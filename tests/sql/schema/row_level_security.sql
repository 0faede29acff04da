-- Row level security without a policy hides rows from all roles except the owner, whatever they are granted. Two tables
-- that add_job reads have a policy: their content is not secret, and add_job must apply it for every role that may call
-- it. The audit has one because the functions that Graphile Worker has, too, record their calls with the caller's rights.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select c.relname, c.relrowsecurity, c.relforcerowsecurity
       from pg_class as c
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'p') and c.relname <> '_gw_schema_version'
      order by c.relname $$,
  $$ values ('_gw_audit'::name, true, false), ('_gw_breaking_versions', false, false), ('_gw_cancels', true, false),
            ('_gw_claim_cursors', true, false), ('_gw_claim_turn', true, false), ('_gw_cron_patterns', true, false),
            ('_gw_ended', true, false), ('_gw_ended_0', true, false), ('_gw_ended_1', true, false), ('_gw_ended_2', true, false),
            ('_gw_expected', true, false), ('_gw_gate_ends', true, false), ('_gw_gates', true, false), ('_gw_grants', true, false),
            ('_gw_history', true, false), ('_gw_installed', true, false), ('_gw_job_context', true, false),
            ('_gw_kept_tasks', true, false), ('_gw_keyed_calls', true, false), ('_gw_lanes', true, false),
            ('_gw_limit_changes', true, false), ('_gw_limits', true, false), ('_gw_long_attempts', true, false),
            ('_gw_mends', true, false), ('_gw_pauses', true, false), ('_gw_progress', true, false), ('_gw_queued_lanes', true, false),
            ('_gw_recovery', true, false), ('_gw_samples', true, false), ('_gw_schedules', true, false),
            ('_gw_second_claim_turn', true, false), ('_gw_settings', true, false), ('_gw_shared_rights', true, false),
            ('_gw_sleepers', true, false), ('_gw_steps', true, false), ('_gw_suspects', true, false), ('_gw_turns', true, false),
            ('_gw_workers', true, false), ('_private_job_queues', true, false), ('_private_jobs', true, false),
            ('_private_known_crontabs', true, false), ('_private_tasks', true, false), ('migrations', false, false) $$,
  'row level security is on, not forced, for all tables but the ledgers');
select is(
  (select string_agg(format('%s on %s: %s', p.cmd, p.tablename, p.qual), ', ' order by p.tablename)
     from pg_policies as p where p.schemaname = 'graphile_worker'),
  'ALL on _gw_audit: (role = (SESSION_USER)::text), SELECT on _gw_settings: true, SELECT on _gw_sleepers: true',
  'two tables have a policy for reading, and the audit one for roles that record their own acts');

select add_job('task');
select set_setting('max_payload', '2000000');
create role gw_test_reader;
grant usage on schema graphile_worker to gw_test_reader;
grant select, insert on all tables in schema graphile_worker to gw_test_reader;
set local role gw_test_reader;
select is_empty($$ select id from _private_jobs $$, 'a role that was granted select sees no row');
select is(setting('max_payload'), '2000000', 'a role that was granted select can read the settings');
select throws_ok(
  $$ insert into _private_tasks (identifier) values ('mine') $$,
  '42501', null,
  'a role that was granted insert cannot use it');
reset role;
select is((select count(*) from _private_jobs), 1::bigint, 'the owner sees the job');

select * from finish();
rollback;
