-- Identity columns whose sequence is nearly exhausted. After that, new queues, tasks or jobs cannot be added. The type
-- of the column may have a lower maximum than its sequence. A sequence that gives a column no default values
-- is none of these: it is a cursor, or begins again by itself.
create or replace function {{.schema}}._gw_find_ending_identities()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  with identities as (
    select s.sequencename as sequence, c.relname as of_table, s.last_value as last_id,
           least(s.max_value, case a.atttypid when 'integer'::regtype then 2147483647
                                              when 'smallint'::regtype then 32767
                                              else s.max_value end) as greatest_id
      from pg_sequences as s
      join pg_class as q on q.relname = s.sequencename and q.relnamespace = {{.schema}}._gw_namespace()
      join pg_depend as d
        on d.classid = 'pg_class'::regclass and d.objid = q.oid and d.refobjsubid > 0 and d.deptype in ('a', 'i')
      join pg_class as c on c.oid = d.refobjid
      join pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where (d.deptype = 'i' or a.atthasdef)
       and s.schemaname = (select n.nspname from pg_namespace as n where n.oid = {{.schema}}._gw_namespace())
  )
  select case when i.last_id::numeric / i.greatest_id > 0.95 then 'critical' else 'warning' end,
         'ending identity',
         'sequence ' || i.sequence,
         format('%s %% of the ids of %s are used (%s of %s). After the last one, every call that needs a new id fails.',
                round(100 * i.last_id::numeric / i.greatest_id, 1), i.of_table, i.last_id, i.greatest_id),
         case i.of_table
           when '_private_job_queues' then
             format('Collect unused queues by select * from %s.cleanup(array[''GC_JOB_QUEUES'']);',
                    {{.schema}}._gw_namespace())
           when '_private_tasks' then
             format('Stop Node workers, which cache ids, and collect unused names by select * from %s.cleanup(array[''GC_TASK_IDENTIFIERS'']);',
                    {{.schema}}._gw_namespace())
           else 'Make sure that the lowest ids are free again;'
         end
           || format(' find the lowest id in use by select min(id) from %1$s.%2$I; if it is far from 1, restart the '
                     'sequence with: alter sequence %1$s.%3$I restart with 1;',
                     {{.schema}}._gw_namespace(), i.of_table, i.sequence)
    from identities as i
   where i.last_id::numeric / i.greatest_id > 0.8
   order by i.last_id::numeric / i.greatest_id desc
$$;
