-- The seven public functions have Graphile Worker's signatures, without overloads, which would make its calls
-- ambiguous.
-- The only difference: four are plpgsql instead of sql. reschedule_jobs and force_unlock_workers check arguments and wake
-- workers, and these two, complete_jobs and permanently_fail_jobs record the act for list_audit.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), l.lanname, p.proisstrict
       from pg_proc as p
       join pg_language as l on l.oid = p.prolang
      where p.pronamespace = 'graphile_worker'::regnamespace
        and p.proname in ('add_job', 'add_jobs', 'remove_job', 'complete_jobs', 'permanently_fail_jobs',
                          'reschedule_jobs', 'force_unlock_workers')
      order by 1 $$,
  $$ values
       ('add_job'::name,
        'identifier text, payload json DEFAULT NULL::json, queue_name text DEFAULT NULL::text, '
        'run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, max_attempts integer DEFAULT NULL::integer, '
        'job_key text DEFAULT NULL::text, priority integer DEFAULT NULL::integer, flags text[] DEFAULT NULL::text[], '
        'job_key_mode text DEFAULT ''replace''::text',
        '_private_jobs', 'plpgsql'::name, false),
       ('add_jobs', 'specs job_spec[], job_key_preserve_run_at boolean DEFAULT false',
        'SETOF _private_jobs', 'plpgsql', false),
       ('complete_jobs', 'job_ids bigint[]', 'SETOF _private_jobs', 'plpgsql', false),
       ('force_unlock_workers', 'worker_ids text[]', 'void', 'plpgsql', false),
       ('permanently_fail_jobs', 'job_ids bigint[], error_message text DEFAULT NULL::text',
        'SETOF _private_jobs', 'plpgsql', false),
       ('remove_job', 'job_key text', '_private_jobs', 'plpgsql', true),
       ('reschedule_jobs',
        'job_ids bigint[], run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, '
        'priority integer DEFAULT NULL::integer, attempts integer DEFAULT NULL::integer, '
        'max_attempts integer DEFAULT NULL::integer',
        'SETOF _private_jobs', 'plpgsql', false) $$,
  'the seven functions have the signatures of the contract and no overload');

select is_empty(
  $$ select p.proname
       from pg_proc as p
      where p.pronamespace = 'graphile_worker'::regnamespace
        and p.proname in ('add_job', 'add_jobs', 'remove_job', 'complete_jobs', 'permanently_fail_jobs',
                          'reschedule_jobs', 'force_unlock_workers')
        and (p.prosecdef or p.provolatile <> 'v' or p.proparallel <> 'u' or p.procost <> 100) $$,
  'the seven functions run with the caller''s rights, are volatile, not parallel and have the default cost');

select * from finish();
rollback;
