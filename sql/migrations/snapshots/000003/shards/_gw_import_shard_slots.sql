-- Puts the jobs of slots that are leaving back into the queue: the move is given up. Returns the slots.
-- Locks: rows of slots, for update; then as _gw_take_from_transit.
create or replace function {{.schema}}._gw_keep_shard_slots(
  slots integer[]
)
  returns setof smallint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  kept smallint[];
begin
  perform from {{.schema}}._gw_shard_slots as s where s.slot = any (slots) and s.state = 'leaving' order by s.slot for update;
  kept := array(select s.slot from {{.schema}}._gw_shard_slots as s where s.slot = any (slots) and s.state = 'leaving');
  perform {{.schema}}._gw_take_from_transit(kept, true);
  delete from {{.schema}}._gw_shard_transit as t where t.slot = any (kept);
  update {{.schema}}._gw_shard_slots as s
     set state = 'here', target = null, changed_at = clock_timestamp()
   where s.slot = any (kept);
  return query select unnest(kept);
end;
$$;

comment on function {{.schema}}._gw_keep_shard_slots(integer[]) is
  'Internal, for moving slots: gives up the move of slots that have not left yet, and returns them.';

-- Takes slots that have left another shard, whose rows in transit the caller has copied into this transaction. versions are
-- those of the slots in the other shard; a slot that has arrived before is skipped, and its copied rows are deleted. Jobs of
-- slot -1, which have no slot, are skipped one by one. Returns the number of jobs.
-- Locks: rows of slots, for update; then as _gw_take_from_transit.
-- Raises GWSNS (no shard), GWSJN (it has one of the slots, so two shards do).
create or replace function {{.schema}}._gw_import_shard_slots(
  slots    integer[],
  versions integer[],
  source   text,
  left_at  timestamptz
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  self     text;
  arriving smallint[];
  arrived  bigint;
begin
  select s.name into self from {{.schema}}._gw_shard as s;
  if self is null then
    raise exception 'This database is not a shard.' using errcode = 'GWSNS', hint = 'Run gw-migrate up --shards first.';
  end if;
  perform from {{.schema}}._gw_shard_slots as s where s.slot = any (slots) order by s.slot for update;
  if exists (select
               from unnest(slots, versions) as u (slot, version)
               join {{.schema}}._gw_shard_slots as s on s.slot = u.slot
              where s.version <= u.version and s.state <> 'away') then
    raise exception 'Shard % has one of the slots already, which shard % says to have.', self, source
      using errcode = 'GWSJN', hint = 'Nothing was changed. list_shard_slots() shows the slots of a shard.';
  end if;
  arriving := array(
    select s.slot
      from unnest(slots, versions) as u (slot, version)
      join {{.schema}}._gw_shard_slots as s on s.slot = u.slot
     where s.version <= u.version and s.state = 'away');
  if -1 = any (slots) then
    delete from {{.schema}}._gw_shard_transit as t
     using {{.schema}}._gw_shard_arrivals as a
     where t.slot = -1 and a.source = _gw_import_shard_slots.source and a.source_id = t.job_id;
    arriving := arriving || -1::smallint;
  end if;
  arrived := {{.schema}}._gw_take_from_transit(arriving, false);
  delete from {{.schema}}._gw_shard_arrivals as a where a.arrived_at < now() - interval '7 days';
  insert into {{.schema}}._gw_shard_arrivals as a (source, source_id, job_id)
  select _gw_import_shard_slots.source, t.job_id, t.new_id
    from {{.schema}}._gw_shard_transit as t
   where t.slot = any (arriving) and t.kind = 'job'
      on conflict on constraint _gw_shard_arrivals_pkey do update set job_id = excluded.job_id, arrived_at = excluded.arrived_at;
  delete from {{.schema}}._gw_shard_transit as t where t.slot = any (slots);
  update {{.schema}}._gw_shard_slots as s
     set shard = self, version = u.version + 1, state = 'here', target = null, changed_at = clock_timestamp(),
         left_at = _gw_import_shard_slots.left_at
    from unnest(slots, versions) as u (slot, version)
   where s.slot = u.slot and s.slot = any (arriving);
  return arrived;
end;
$$;

comment on function {{.schema}}._gw_import_shard_slots(integer[], integer[], text, timestamptz) is
  'Internal, for moving slots: takes slots that have left another shard, with their jobs, and returns the number of jobs.';

-- Ends the move of slots that have arrived in their target, and returns them.
-- Locks: rows of slots, for update.
create or replace function {{.schema}}._gw_forget_shard_slots(
  slots  integer[],
  target text
)
  returns setof smallint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  gone smallint[];
begin
  perform from {{.schema}}._gw_shard_slots as s where s.slot = any (slots) and s.state = 'left' order by s.slot for update;
  gone := array(select s.slot from {{.schema}}._gw_shard_slots as s where s.slot = any (slots) and s.state = 'left');
  if -1 = any (slots) then
    delete from {{.schema}}._gw_shard_transit as t where t.slot = -1 and t.target = _gw_forget_shard_slots.target;
  end if;
  delete from {{.schema}}._gw_shard_transit as t where t.slot = any (gone);
  delete from {{.schema}}._gw_shard_names as n where n.slot = any (gone);
  update {{.schema}}._gw_shard_slots as s
     set state = 'away', shard = s.target, version = s.version + 1, target = null, changed_at = clock_timestamp()
   where s.slot = any (gone);
  return query select unnest(gone);
end;
$$;

comment on function {{.schema}}._gw_forget_shard_slots(integer[], text) is
  'Internal, for moving slots: ends the move of slots that have arrived in their target, and returns them.';

-- Returns the id that a job of another shard has got in this one, null if it has not arrived here, or more than a week ago.
create or replace function {{.schema}}.arrived_job(
  source text,
  job_id bigint
)
  returns bigint
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select a.job_id from {{.schema}}._gw_shard_arrivals as a where a.source = arrived_job.source and a.source_id = arrived_job.job_id
$$;

comment on function {{.schema}}.arrived_job(text, bigint) is
  'Returns the id that a job of another shard got in this one when its slot was moved here, in the last seven days; null otherwise.';

-- Returns whether a job of this shard is on its way to another one.
create or replace function {{.schema}}.is_in_transit(
  job_id bigint
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (select from {{.schema}}._gw_shard_transit as t where t.kind = 'job' and t.job_id = is_in_transit.job_id)
$$;

comment on function {{.schema}}.is_in_transit(bigint) is
  'Returns whether a job of this shard is on its way to another one: no worker claims it until it has arrived.';
