-- Task and queue names become ids. A name may be collected by cleanup() when no job uses it, and a producer must not end
-- up with the id of a collected name, however long its transaction stays open. So producers hold the name before they look
-- it up: with a shared advisory lock, which costs least, or, where that is taken, by locking the row of the name. cleanup()
-- collects only names of which it gets both, without waiting. Any role may take advisory locks, so that nobody waits for
-- one: who holds them all makes producers lock rows, and keeps names from being collected.
-- Names share 64 locks a kind: one transaction with a million names must not fill the server's lock table.

create or replace function {{.schema}}._gw_name_lock(
  kind text,
  name text
)
  returns bigint
  language sql
  immutable
as $$
  select 7239152 operator(pg_catalog.*) 4294967296
         operator(pg_catalog.+) case when kind operator(pg_catalog.=) 'task' then 0 else 64 end
         operator(pg_catalog.+) (pg_catalog.hashtext(name) operator(pg_catalog.&) 63)
$$;

comment on function {{.schema}}._gw_name_lock(text, text) is
  'Internal: the advisory lock under which the name of a task or queue is held.';

-- Holds many names at once until the transaction ends. Where rows are locked, names that have none yet get them.
-- An older snapshot could still see a name that cleanup() has collected since: there the rows themselves are locked, too,
-- and the answer to a collected one is 40001.
-- Locks: advisory locks, without waiting; else new names, then the rows of names, each in sorted order.
create or replace function {{.schema}}._gw_hold_names(
  identifiers text[],
  queue_names text[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  missed boolean;
  tasks  bigint;
  queues bigint;
begin
  select bool_or(not pg_try_advisory_xact_lock_shared(l.id))
    into missed
    from (select {{.schema}}._gw_name_lock('task', n.name) as id
            from unnest(identifiers) as n (name)
           where n.name is not null
           union
          select {{.schema}}._gw_name_lock('queue', n.name)
            from unnest(queue_names) as n (name)
           where n.name is not null) as l;
  if missed is not true and current_setting('transaction_isolation') = 'read committed' then
    return;
  end if;

  loop
    begin
      if missed then
        perform {{.schema}}._gw_make_names(identifiers, queue_names);
      end if;
      perform from {{.schema}}._private_tasks as t
        where t.identifier = any (identifiers)
        order by t.identifier for key share;
      get diagnostics tasks = row_count;
      perform from {{.schema}}._private_job_queues as q
        where q.queue_name = any (queue_names)
        order by q.queue_name for key share;
      get diagnostics queues = row_count;
      if missed is not true
         or tasks = (select count(distinct n.name) from unnest(identifiers) as n (name))
            and queues = (select count(distinct n.name) from unnest(queue_names) as n (name)) then
        return;
      end if;
      -- One that cleanup() had locked is gone when we have waited for it. New ones must not be made out of order.
      raise exception using errcode = 'GWBKC';
    exception when sqlstate 'GWBKC' then
      null;
    end;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_hold_names(text[], text[]) is
  'Internal: keeps cleanup() from collecting these task and queue names until the transaction ends.';

-- Makes the rows of names that have none yet, in sorted order, so that callers with the same new names queue up instead
-- of dead-locking. A name that exists costs no identity value.
create or replace function {{.schema}}._gw_make_names(
  identifiers text[],
  queue_names text[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  insert into {{.schema}}._private_tasks (identifier)
  select distinct n.name
    from unnest(identifiers) as n (name)
   where n.name is not null
     and not exists (select from {{.schema}}._private_tasks as t where t.identifier = n.name)
   order by n.name
      on conflict (identifier) do nothing;
  insert into {{.schema}}._private_job_queues (queue_name)
  select distinct n.name
    from unnest(queue_names) as n (name)
   where n.name is not null
     and not exists (select from {{.schema}}._private_job_queues as q where q.queue_name = n.name)
   order by n.name
      on conflict (queue_name) do nothing;
end;
$$;

comment on function {{.schema}}._gw_make_names(text[], text[]) is
  'Internal: makes the rows of task and queue names that have none yet.';
