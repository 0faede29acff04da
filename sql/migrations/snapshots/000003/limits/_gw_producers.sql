-- These functions find open transactions that add jobs, which hold name locks; see _gw_names. A producer whose transaction
-- began before a change of limits may not see the change.

-- Returns the advisory locks of these tasks, of all if null.
create or replace function {{.schema}}._gw_task_locks(
  tasks text[]
)
  returns setof bigint
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select {{.schema}}._gw_name_lock('task', t.name)
    from unnest(tasks) as t (name)
   union
  select {{.schema}}._gw_name_lock('task', '') - ({{.schema}}._gw_name_lock('task', '') & 63) + n
    from generate_series(0, 63) as n
   where tasks is null
$$;

comment on function {{.schema}}._gw_task_locks(text[]) is
  'Internal: returns the advisory locks of these tasks.';

-- Returns the open transactions of other sessions that hold a name lock of one of these tasks (all if null); if transactions
-- are given, only those among them. A lock of an idle session belongs to no transaction.
create or replace function {{.schema}}._gw_producers(
  tasks text[],
  known text[] default null
)
  returns text[]
  language sql
  volatile
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_locks as l
   where l.locktype = 'advisory' and l.mode = 'ShareLock' and l.granted and l.objsubid = 1
     and l.database = (select d.oid from pg_database as d where d.datname = current_database())
     and (l.classid::bigint << 32 | l.objid::bigint) = any (array(select {{.schema}}._gw_task_locks(tasks)))
     and l.pid is distinct from pg_backend_pid() -- null: of a prepared transaction
     and l.virtualtransaction !~ '/0$'
     and (l.virtualtransaction = any (known)) is not false
$$;

comment on function {{.schema}}._gw_producers(text[], text[]) is
  'Internal: returns the open transactions that hold a name lock of one of these tasks.';

-- Returns whether no transaction holds the row of one of these tasks (all if null), as producers do that cannot take an
-- advisory lock. If so, no transaction takes such a row before this transaction ends.
create or replace function {{.schema}}._gw_tasks_are_free(
  tasks text[]
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  locked bigint;
begin
  perform from {{.schema}}._private_tasks as t
    where t.identifier = any (tasks) or tasks is null
    order by t.id for update skip locked;
  get diagnostics locked = row_count;
  return locked = (select count(*) from {{.schema}}._private_tasks as t where t.identifier = any (tasks) or tasks is null);
end;
$$;

comment on function {{.schema}}._gw_tasks_are_free(text[]) is
  'Internal: returns whether no transaction holds the row of one of these tasks.';

-- Returns whether no transaction that has added jobs of these tasks (all if null) is still open. If so, no transaction adds
-- such jobs before this transaction ends.
create or replace function {{.schema}}._gw_no_producers(
  tasks text[]
)
  returns boolean
  language sql
  volatile
  set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from {{.schema}}._gw_task_locks(tasks) as l (id) where not pg_try_advisory_xact_lock(l.id))
         and {{.schema}}._gw_tasks_are_free(tasks)
$$;

comment on function {{.schema}}._gw_no_producers(text[]) is
  'Internal: returns whether no open transaction has added jobs of these tasks.';
