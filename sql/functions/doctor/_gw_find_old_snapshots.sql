-- Sessions, prepared transactions and replication slots that prevent the removal of dead rows. Claims and all other
-- searches skip the dead rows of jobs that completed long ago.
-- If the start time is not known (slots have none, and a role without pg_read_all_stats cannot see other roles'
-- sessions), the number of transactions since then counts.
create or replace function {{.schema}}._gw_find_old_snapshots(transactions integer default 100000)
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  with holders (subject, since, transactions, detail, remedy) as (
    -- A session of another database counts if it writes: then snapshots in this database go back to its start, too, but
    -- not to the start of its own snapshot.
    select 'session ' || a.pid,
           a.xact_start,
           greatest(case when a.datname is null or a.datname = current_database() then age(a.backend_xmin) end,
                    age(a.backend_xid)),
           format('%s of role %s, application %s, in database %s', coalesce(a.state, a.backend_type, 'session'),
                  coalesce(a.usename, 'unknown'), coalesce(nullif(a.application_name, ''), 'unnamed'),
                  coalesce(a.datname, 'none')),
           e'End its transaction, or end the session with:\nselect pg_terminate_backend(' || a.pid || ');'
      from pg_stat_activity as a
     where a.pid <> pg_backend_pid()
       and (a.backend_xid is not null
            or a.backend_xmin is not null and (a.datname is null or a.datname = current_database()))
       and a.backend_type is distinct from 'parallel worker'
       and a.pid not in (select v.pid from pg_stat_progress_vacuum as v) -- vacuum itself does not count
    union all
    select 'prepared transaction ' || p.gid,
           p.prepared,
           age(p.transaction),
           format('prepared by role %s in database %s', p.owner, p.database),
           format(e'Commit it, or in that database roll it back with:\nrollback prepared %L;', p.gid)
      from pg_prepared_xacts as p
    union all
    select 'replication slot ' || s.slot_name,
           null,
           age(s.xmin),
           case when s.active then 'in use; its standby has a long query, see pg_stat_activity on the standby'
                else 'not in use' end,
           case when s.active
                then 'End that query, or set hot_standby_feedback to off on the standby.'
                else format(e'Start its consumer again, or drop it with:\nselect pg_drop_replication_slot(%L);',
                            s.slot_name)
           end
      from pg_replication_slots as s
     where s.xmin is not null
  )
  select 'warning',
         'old snapshot',
         h.subject,
         format('It has prevented the removal of dead rows (%s) %s, for %s transactions. Each claim skips all jobs '
                'completed since, and the tables grow.', h.detail,
                case when h.since is null then 'since an unknown time' else 'for ' || {{.schema}}._gw_age(h.since) end,
                h.transactions),
         h.remedy || case when h.since is null and h.subject like 'session %'
                          then ' -- to see its start: grant pg_read_all_stats to ' || quote_ident(current_user) || ';'
                          else '' end
    from holders as h
   where h.since < now() - {{.schema}}.setting('old_snapshot_after')::interval
      or h.since is null and h.transactions > _gw_find_old_snapshots.transactions
   order by h.since, h.transactions desc
   limit 10
$$;
