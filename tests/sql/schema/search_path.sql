-- Functions set their search_path, so that they never use functions or operators of the caller's path.
-- wait_for_job sets it at the start of each transaction, because it commits. The other exceptions are _gw_is_free and
-- _gw_wants_result, which are called for single rows, and single SQL expressions, which are inlined. A search_path of their own would
-- cost too much, or prevent that. All names in them are qualified, as scripts/check-names.sql checks.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select p.proname, l.lanname
       from pg_proc as p
       join pg_language as l on l.oid = p.prolang
      where p.pronamespace = 'graphile_worker'::regnamespace
        and 'search_path=pg_catalog, pg_temp' <> all (coalesce(p.proconfig, '{}'))
      order by 1 $$,
  $$ values ('_gw_after'::name, 'sql'::name), ('_gw_after_seconds', 'sql'), ('_gw_before', 'sql'), ('_gw_charge', 'sql'),
            ('_gw_cron_matches_day', 'sql'), ('_gw_cursor_scope', 'sql'), ('_gw_error_group', 'sql'), ('_gw_first_in_queue', 'sql'), ('_gw_first_line', 'sql'),
            ('_gw_gate_rooms', 'sql'), ('_gw_gates_of', 'sql'), ('_gw_has_own_place', 'sql'), ('_gw_held_jobs', 'sql'), ('_gw_in_calendar', 'sql'), ('_gw_index_reads', 'sql'), ('_gw_is_free', 'plpgsql'),
            ('_gw_is_held', 'sql'), ('_gw_is_of_group', 'sql'), ('_gw_is_stale', 'sql'), ('_gw_job_is_refused', 'sql'), ('_gw_keeps', 'sql'),
            ('_gw_known_settings', 'sql'), ('_gw_lane_of', 'sql'), ('_gw_lease', 'sql'), ('_gw_locked_at', 'sql'), ('_gw_may_lock', 'sql'),
            ('_gw_merged_payload', 'sql'), ('_gw_most_bytes', 'sql'), ('_gw_name_lock', 'sql'), ('_gw_next_may_start', 'sql'), ('_gw_packed_lines', 'sql'),
            ('_gw_queue_locked_at', 'sql'), ('_gw_recent_lines', 'sql'), ('_gw_retry_at', 'sql'), ('_gw_seconds', 'sql'),
            ('_gw_suits', 'sql'), ('_gw_suits_claim', 'sql'), ('_gw_wants_result', 'plpgsql'), ('backoff', 'sql'),
            ('job_state', 'sql'), ('wait_for_job', 'plpgsql') $$,
  'all functions but the inlined expressions set their search_path');

-- A caller with a hostile path: its now() and its <= come first, were they looked at.
create schema gw_test_trap;
create function gw_test_trap.now() returns timestamptz language sql as $$ select 'infinity'::timestamptz $$;
create function gw_test_trap.never(timestamptz, timestamptz) returns boolean language sql as $$ select false $$;
create operator gw_test_trap.<= (leftarg = timestamptz, rightarg = timestamptz, function = gw_test_trap.never);
set local search_path = gw_test_trap, pg_catalog, public;
select graphile_worker.add_job('task');
select is(
  (select task_identifier from graphile_worker.get_job('worker')),
  'task',
  'a job is added and claimed as ever under a hostile path');

-- An exact match in public comes before what pg_catalog has only for other types.
create function public.exp(integer) returns double precision language sql as $$ select 0.0::double precision $$;
set local search_path = public;
select is(graphile_worker.backoff(1), interval '2.718282 seconds', 'no function in public stands in for an exp() of an integer');

select * from finish();
rollback;
