-- The fence of every call that names a slot: keeps the slot in this shard until the transaction ends, or refuses the call. A
-- mover first sets the state of the slot, which does not wait for these locks, and then waits for them. So a call either
-- holds the slot before its jobs are moved, or sees the new state.
-- Locks: the row of the slot, for key share.
-- Raises GWSNS (no shard, or no such slot), GWSLT (the slot is in another shard), GWSMV (it is being moved: try again).
create or replace function {{.schema}}._gw_hold_shard_slot(
  slot integer
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  placed {{.schema}}._gw_shard_slots;
  self   text;
begin
  perform from {{.schema}}._gw_shard_slots as s
    where s.slot = _gw_hold_shard_slot.slot and s.state = 'here'
      for key share;
  if found then
    return;
  end if;
  select p.name into self from {{.schema}}._gw_shard as p;
  if self is null then
    raise exception 'This database is not a shard.'
      using errcode = 'GWSNS', hint = 'gw-migrate up --shards makes databases shards; without shards, call add_job().';
  end if;
  select s.* into placed from {{.schema}}._gw_shard_slots as s where s.slot = _gw_hold_shard_slot.slot;
  if not found then
    raise exception 'There is no slot %.', coalesce(slot::text, 'null')
      using errcode = 'GWSNS', hint = 'Slots are 0 to 255; shard_slot() returns the slot of a shard key.';
  elsif placed.state = 'away' then
    raise exception 'Slot % is not in shard %, but in shard %, since version % of the slot.', slot, self, placed.shard, placed.version
      using errcode = 'GWSLT', hint = 'Nothing was changed. Repeat the call in that shard.';
  end if;
  raise exception 'Slot % is being moved from shard % to shard %.', slot, self, placed.target
    using errcode = 'GWSMV', hint = 'Nothing was changed. Try again: a move takes seconds. gw-run shards shows moves that were interrupted.';
end;
$$;

comment on function {{.schema}}._gw_hold_shard_slot(integer) is
  'Internal: keeps a slot in this shard until the transaction ends; refuses the call if the slot is in another one.';

-- Records the slot of a named queue or a key whose slot is not that of its own name, so that a move finds its jobs. Such names
-- are kept while jobs or calls use them.
-- Locks: the row of the name, for key share, or for update if it is new or has another slot.
create or replace function {{.schema}}._gw_place_name(
  kind text,
  name text,
  slot integer
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if name is null
     or pg_relation_size('{{ replace "'" "''" .schema }}._gw_shard_names'::regclass) = 0 and {{.schema}}.shard_slot(name) = slot then
    return;
  end if;
  perform from {{.schema}}._gw_shard_names as n
    where n.kind = _gw_place_name.kind and n.name = _gw_place_name.name and n.slot = _gw_place_name.slot
      for key share;
  if found then
    return;
  end if;
  if {{.schema}}.shard_slot(name) = slot then
    delete from {{.schema}}._gw_shard_names as n where n.kind = _gw_place_name.kind and n.name = _gw_place_name.name;
    return;
  end if;
  insert into {{.schema}}._gw_shard_names as n (kind, name, slot)
  values (kind, name, slot)
      on conflict on constraint _gw_shard_names_pkey do update set slot = excluded.slot;
end;
$$;

comment on function {{.schema}}._gw_place_name(text, text, integer) is
  'Internal: records the slot of a named queue or a key whose slot is not that of its own name.';

-- Deletes such records that no job and no call needs any more.
-- Locks: the rows that it deletes; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_drop_spent_shard_names(
  most integer default 10000
)
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  delete from {{.schema}}._gw_shard_names as n
   where (n.kind, n.name) in (
           select l.kind, l.name
             from {{.schema}}._gw_shard_names as l
            where case l.kind
                    when 'key' then not exists (select from {{.schema}}._private_jobs as j where j.key = l.name)
                                    and not exists (select from {{.schema}}._gw_keyed_calls as c where c.key = l.name)
                    else not exists (select
                                       from {{.schema}}._private_job_queues as q
                                       join {{.schema}}._private_jobs as j on j.job_queue_id = q.id
                                      where q.queue_name = l.name)
                         and not exists (select
                                           from {{.schema}}._gw_groups as g
                                           join {{.schema}}._private_jobs as j on j.job_queue_id = g.id
                                          where g.queue_name = l.name)
                  end
            limit most
              for update skip locked)
$$;

comment on function {{.schema}}._gw_drop_spent_shard_names(integer) is
  'Internal: deletes the recorded slots of names that no job and no call needs any more.';
