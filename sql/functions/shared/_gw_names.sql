-- Functions that turn task and queue names into ids. cleanup() may delete a name that no job uses, and a producer must
-- not use the id of a deleted name, however long its transaction is open. So a producer locks the name before it looks
-- it up: by a shared advisory lock, which is the cheapest, or, if that is taken, by a lock on the row of the name.
-- cleanup() deletes a name only if it gets both locks without waiting. Any role may take advisory locks, so no function
-- waits for one: a session that holds them all makes producers lock rows and prevents names from being deleted.
-- The names of each kind share 64 advisory locks, so that a transaction with a million names does not fill the server's
-- lock table.

create or replace function {{.schema}}._gw_name_lock(kind text, name text)
  returns bigint language sql immutable
as $$
  select 7239152 operator(pg_catalog.*) 4294967296
         operator(pg_catalog.+) case when kind operator(pg_catalog.=) 'task' then 0 else 64 end
         operator(pg_catalog.+) (pg_catalog.hashtext(name) operator(pg_catalog.&) 63)
$$;

comment on function {{.schema}}._gw_name_lock(text, text) is
  'Internal: returns the advisory lock of a task or queue name.';

-- Locks many names until the transaction ends. Where rows are locked, names without a row get one.
-- Above READ COMMITTED an older snapshot could still show a name that cleanup() has deleted since. There the rows
-- themselves are locked as well, and a deleted name raises 40001.
-- Locks: advisory locks, without waiting; otherwise new names, then the rows of names, each in sorted order.
create or replace function {{.schema}}._gw_hold_names(identifiers text[], queue_names text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
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
      -- A name that cleanup() had locked is deleted by the time the lock is granted. New names must be created in
      -- sorted order, so the block starts again.
      raise exception using errcode = 'GWBKC';
    exception when sqlstate 'GWBKC' then
      null;
    end;
  end loop;
end;
$$;

-- Creates the rows of names that have none, in sorted order, so that callers with the same new names wait for each
-- other but do not deadlock. An existing name uses no identity value.
create or replace function {{.schema}}._gw_make_names(identifiers text[], queue_names text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  insert into {{.schema}}._private_tasks (identifier)
  select distinct n.name
    from unnest(identifiers) as n (name)
   where n.name is not null
     and not exists (select from {{.schema}}._private_tasks as t where t.identifier = n.name offset 0) -- row by row
   order by n.name
      on conflict (identifier) do nothing;
  insert into {{.schema}}._private_job_queues (queue_name)
  select distinct n.name
    from unnest(queue_names) as n (name)
   where n.name is not null
     and not exists (select from {{.schema}}._private_job_queues as q where q.queue_name = n.name offset 0)
   order by n.name
      on conflict (queue_name) do nothing;
end;
$$;
