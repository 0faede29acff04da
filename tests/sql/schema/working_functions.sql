-- The functions that workers call have the documented signatures; clients in any language depend on the names.
begin;
select plan(2);
set local search_path = graphile_worker, public;

create function pg_temp.arguments_of(function_name text)
  returns setof text
  language sql
as $$
  select pg_get_function_arguments(p.oid) || ' -> ' || pg_get_function_result(p.oid)
    from pg_proc as p
   where p.pronamespace = 'graphile_worker'::regnamespace and p.proname = function_name
$$;

-- What those return that say what has become of jobs.
create function pg_temp.outcome()
  returns text
  language sql
as $$
  select 'TABLE(id bigint, state text, run_at timestamp with time zone, attempts smallint, max_attempts smallint)'
$$;

select results_eq(
  $$ select f.name, a.arguments
       from unnest(array['backoff', 'cleanup', 'complete_job', 'complete_job_batch', 'deregister_worker', 'fail_job',
                         'fail_job_batch', 'fall_asleep', 'heartbeat', 'next_run_at', 'register_worker', 'renew_leases',
                         'reset_stale_locks', 'return_job', 'return_job_batch', 'set_setting', 'setting',
                         'stale_sweep', 'still_in_flight', 'tidy', 'wake_up']) as f (name)
      cross join pg_temp.arguments_of(f.name) as a (arguments) $$,
  $$ values
       ('backoff', 'attempts integer -> interval'),
       ('cleanup',
        'tasks text[], keep_task_identifiers text[] DEFAULT ''{}''::text[], force boolean DEFAULT false '
        '-> TABLE(task text, rows bigint)'),
       ('complete_job', 'worker_id text, job_id bigint, lease bigint DEFAULT NULL::bigint, result json DEFAULT NULL::json -> boolean'),
       ('complete_job_batch', 'worker_id text, job_ids bigint[], leases bigint[] DEFAULT NULL::bigint[], results json[] DEFAULT NULL::json[] -> SETOF bigint'),
       ('deregister_worker', 'worker_id text -> boolean'),
       ('fail_job',
        'worker_id text, job_id bigint, error_message text, lease bigint DEFAULT NULL::bigint, '
        'retry_at timestamp with time zone DEFAULT NULL::timestamp with time zone, '
        'replacement_payload json DEFAULT NULL::json, retry_in interval DEFAULT NULL::interval, '
        'permanent boolean DEFAULT false -> ' || pg_temp.outcome()),
       ('fail_job_batch', 'worker_id text, failures json -> ' || pg_temp.outcome()),
       ('fall_asleep',
        'worker_id text, task_identifiers text[] DEFAULT NULL::text[], lasting interval DEFAULT ''00:00:10''::interval '
        '-> TABLE(next_run_at timestamp with time zone, must_look_again boolean)'),
       ('heartbeat',
        'worker_id text, job_ids bigint[] DEFAULT ''{}''::bigint[], leases bigint[] DEFAULT ''{}''::bigint[], '
        'reconnected boolean DEFAULT false, running integer DEFAULT NULL::integer, waiting integer DEFAULT NULL::integer, '
        'claimed_ids bigint[] DEFAULT NULL::bigint[] '
        '-> TABLE(registered boolean, held_ids bigint[], held_leases bigint[], next_in interval, alone_waits boolean, '
        'died text[], freed bigint, canceled_ids bigint[], reasons text[], drained boolean)'),
       ('next_run_at', 'task_identifiers text[] DEFAULT NULL::text[] -> timestamp with time zone'),
       ('register_worker',
        'worker_id text, tasks text[] DEFAULT ''{}''::text[], concurrency integer DEFAULT 1, host text DEFAULT NULL::text, '
        'pid integer DEFAULT NULL::integer, version text DEFAULT NULL::text -> void'),
       ('renew_leases',
        'worker_id text, job_ids bigint[], leases bigint[], older_than interval DEFAULT ''01:00:00''::interval '
        '-> TABLE(job_id bigint, lease bigint)'),
       ('reset_stale_locks', 'expiry interval DEFAULT ''04:00:00''::interval -> bigint'),
       ('return_job',
        'worker_id text, job_id bigint, lease bigint DEFAULT NULL::bigint, run_in interval DEFAULT NULL::interval -> ' || pg_temp.outcome()),
       ('return_job_batch',
        'worker_id text, job_ids bigint[], leases bigint[] DEFAULT NULL::bigint[], run_in interval DEFAULT NULL::interval '
        '-> ' || pg_temp.outcome()),
       ('set_setting', 'name text, value text -> text'),
       ('setting', 'name text -> text'),
       ('stale_sweep', 'expiry interval DEFAULT ''04:00:00''::interval -> bigint'),
       ('still_in_flight', 'transactions bigint[] DEFAULT NULL::bigint[] -> bigint[]'),
       ('tidy', ' -> boolean'),
       ('wake_up', 'worker_id text -> void') $$,
  'each function has the documented arguments and no overload');

select results_eq(
  $$ select f.name, a.arguments
       from unnest(array['get_job', 'get_job_alone', 'get_job_batch']) as f (name)
      cross join pg_temp.arguments_of(f.name) as a (arguments) $$,
  $$ select c.name, c.arguments || ' -> TABLE(id bigint, task_identifier text, payload json, queue_name text, '
            'priority smallint, run_at timestamp with time zone, attempts smallint, max_attempts smallint, key text, '
            'flags jsonb, lease bigint, created_at timestamp with time zone, last_error text, revision integer, streak integer, width integer)'
       from (values
         ('get_job',
          'worker_id text, task_identifiers text[] DEFAULT NULL::text[], job_expiry interval DEFAULT ''04:00:00''::interval, '
          'forbidden_flags text[] DEFAULT NULL::text[], now timestamp with time zone DEFAULT now()'),
         ('get_job_alone',
          'worker_id text, task_identifiers text[] DEFAULT NULL::text[], forbidden_flags text[] DEFAULT NULL::text[], '
          'now timestamp with time zone DEFAULT now(), task_forbidden_flags json DEFAULT NULL::json, beside boolean DEFAULT false'),
         ('get_job_batch',
          'worker_id text, task_identifiers text[] DEFAULT NULL::text[], batch_size integer DEFAULT 1, '
          'forbidden_flags text[] DEFAULT NULL::text[], now timestamp with time zone DEFAULT now(), '
          'task_forbidden_flags json DEFAULT NULL::json, max_bytes integer DEFAULT 8388608, queue_batch integer DEFAULT 1'))
         as c (name, arguments) $$,
  'all claims return the same named columns');

select * from finish();
rollback;
