-- Work for the whole fleet that failed the last time, such as packing the history or recovering jobs of dead workers.
-- Workers try it again. Records of ends do not say when they succeed again, so only failures of the last minutes count.
create or replace function {{.schema}}._gw_find_failed_work()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'failed work',
         'function ' || case t.name when 'recovery' then '_gw_recover_workers' else t.name end,
         format('It failed %s ago: %s. %s', {{.schema}}._gw_age(t.failed_at), rtrim(t.error, '.'),
                case when t.name in ('recovery', '_gw_sweep_limits', '_gw_sweep_pauses', '_gw_drop_ended')
                     then 'Jobs may wait for it.'
                     when t.name in ('_gw_jobs_ended', '_gw_note_attempts')
                     then 'Ends of jobs are missing in the history.'
                     else 'Rows that are no longer needed, or records, stay where they are.' end),
         'Remove the cause that the error names. Workers try again; if an object of the schema is missing, restore it.'
    from {{.schema}}._gw_turns as t
   where t.error is not null
     and (t.name not in ('_gw_jobs_ended', '_gw_note_attempts') or t.failed_at > now() - interval '10 minutes')
   order by t.name
$$;

comment on function {{.schema}}._gw_find_failed_work() is 'Internal: work for the whole fleet that failed the last time, such as packing the history or recovering jobs of dead workers.';
