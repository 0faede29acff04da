-- Returns the open transactions that hold limits, other than this one: no other claim starts jobs of these limits
-- before they end. A claim holds them for some milliseconds; one within a transaction of its caller, until that ends.
-- who: a session or a prepared transaction, with what is known of it. since: the start of the transaction, null if this
-- role may not see it. remedy: a statement.
-- The lock of a row is not in pg_locks, but the row names the transaction, and that is there, subtransactions included.
create or replace function {{.schema}}._gw_limit_holders()
  returns table (limit_id integer, who text, since timestamptz, remedy text) language sql stable rows 10
  set search_path = pg_catalog, pg_temp
as $$
  with locked as materialized (
    select l.id, l.xmax as transaction from {{.schema}}._gw_limits as l where l.xmax <> '0'
  ), holders as materialized (
    select h.transactionid as transaction, h.pid
      from pg_locks as h
     where h.locktype = 'transactionid' and h.mode = 'ExclusiveLock' and h.granted
       and exists (select from locked) and h.pid is distinct from pg_backend_pid()
  )
  select l.id, w.who, w.since, w.remedy
    from locked as l
    join holders as h on h.transaction = l.transaction
   cross join lateral (
          select format('session %s of role %s, application %s', h.pid, coalesce(a.usename, 'unknown'),
                        coalesce(nullif(a.application_name, ''), 'unnamed')) as who,
                 a.xact_start as since,
                 'End its transaction, or end the session with: select pg_terminate_backend(' || h.pid || ');' as remedy
            from (select 1) as u
            left join pg_stat_activity as a on a.pid = h.pid
           where h.pid is not null
          union all
          select 'prepared transaction ' || p.gid, p.prepared,
                 format('Commit it, or in that database roll it back with: rollback prepared %L;', p.gid)
            from pg_prepared_xacts as p
           where h.pid is null and p.transaction = l.transaction) as w
$$;

comment on function {{.schema}}._gw_limit_holders() is 'Internal: returns the open transactions that hold limits, other than this one: no other claim starts jobs of these limits before they end.';
