-- The tables and sequences that pg_dump saves in addition to the extension: data of users and workers. Partitions of
-- _gw_history do not belong to the extension, so that it saves them anyway. The other tables
-- are created with the extension, such as the ledger, or are filled again during operation: marks of sleeping workers,
-- parsed patterns, turns, cursors. One statement per table, because each changes the same row.
do $$
declare
  saved regclass;
begin
  for saved in
    select c.oid
      from pg_class as c
     where c.relnamespace = '{{ replace "'" "''" .schema }}'::regnamespace
       and c.relname in (
             '_private_tasks', 'tasks_id_seq',
             '_private_job_queues', 'job_queues_id_seq',
             '_private_jobs', 'jobs_id_seq1',
             '_private_known_crontabs',
             '_gw_settings',
             '_gw_workers',
             '_gw_audit', '_gw_audit_id_seq',
             '_gw_samples',
             '_gw_job_context',
             '_gw_steps',
             '_gw_keyed_calls',
             '_gw_kept_tasks',
             '_gw_ended_0', '_gw_ended_1', '_gw_ended_2',
             '_gw_expected',
             '_gw_long_attempts',
             '_gw_schedules',
             '_gw_suspects',
             '_gw_limits', '_gw_limits_id_seq', '_gw_limit_generations', '_gw_limit_changes',
             '_gw_gates', '_gw_gates_id_seq', '_gw_gate_ends',
             '_gw_lanes', '_gw_lane_ids', '_gw_queued_lanes',
             '_gw_pauses', '_gw_pauses_id_seq',
             '_gw_grants',
             '_gw_shared_rights')
  loop
    perform pg_extension_config_dump(saved, '');
  end loop;
end
$$;
