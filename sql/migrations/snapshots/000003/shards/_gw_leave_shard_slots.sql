-- The steps of moving slots from one shard to another; see internal/reshard. Each step may be repeated, by any mover, so an
-- interrupted move is resumed by reading the states of the slots:
--   here     _gw_leave_shard_slots(): producers are refused from now on (GWSMV)
--   leaving  _gw_export_shard_slots(), repeatedly: jobs that do not run are taken out of the queue into _gw_shard_transit, until
--            none runs; _gw_keep_shard_slots() puts them back instead
--   left     all jobs are in transit. They are copied to the target, where _gw_import_shard_slots() puts them into the queue
--   away     _gw_forget_shard_slots(): the target has the slot
-- A job is in the queue of one shard or in transit, so it never runs in two shards, and it runs in no shard until all older
-- jobs of its queue have ended or are in the same queue as itself.

-- Begins to move slots of this shard: calls of producers that hold a slot continue, later ones are refused. Returns the slots
-- that are being moved to this target by now.
-- Locks: rows of slots, for no key update, which does not wait for producers.
create or replace function {{.schema}}._gw_leave_shard_slots(
  slots  integer[],
  target text
)
  returns setof smallint
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  update {{.schema}}._gw_shard_slots as s
     set state = 'leaving', target = _gw_leave_shard_slots.target, changed_at = clock_timestamp()
   where s.slot = any (slots) and s.state = 'here'
  returning s.slot
$$;

comment on function {{.schema}}._gw_leave_shard_slots(integer[], text) is
  'Internal, for moving slots: begins to move slots of this shard, and returns those that it begins to move.';

-- Takes the jobs of slots that are leaving out of the queue, except those that run, with all that belongs to them: contexts,
-- records of crashes, records of calls under keys, recurring jobs. A slot without running jobs has left. Returns the slots that
-- have not, each with one of the jobs that run.
-- Locks: rows of slots, for update: it waits for producers that hold one. Then job rows by id, skipping those that other
-- transactions have locked, which count as running.
create or replace function {{.schema}}._gw_export_shard_slots(
  slots integer[]
)
  returns table (slot smallint, running bigint, job_id bigint, worker_id text, locked_at timestamptz)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
#variable_conflict use_column
declare
  leaving smallint[];
  taken   bigint[];
begin
  perform from {{.schema}}._gw_shard_slots as s
    where s.slot = any (slots) and s.state = 'leaving'
    order by s.slot
      for update;
  leaving := array(select s.slot from {{.schema}}._gw_shard_slots as s where s.slot = any (slots) and s.state = 'leaving');
  if leaving = '{}' then
    return;
  end if;
  -- No producer can change these jobs, and a claim locks its row.
  taken := array(select w.id from {{.schema}}._gw_jobs_of_slots(leaving) as w where w.locked_at is null);
  taken := array(
    select j.id
      from {{.schema}}._private_jobs as j
     where j.id = any (taken) and j.locked_at is null
     order by j.id
       for update skip locked);
  perform {{.schema}}._gw_put_in_transit(leaving, taken);

  return query
  select w.slot, count(*), min(w.id), (array_agg(w.locked_by order by w.id))[1], min(w.locked_at)
    from {{.schema}}._gw_jobs_of_slots(leaving) as w
   group by w.slot;
  update {{.schema}}._gw_shard_slots as s
     set state = 'left', changed_at = clock_timestamp()
   where s.slot = any (leaving)
     and s.slot not in (select w.slot from {{.schema}}._gw_jobs_of_slots(leaving) as w);
end;
$$;

comment on function {{.schema}}._gw_export_shard_slots(integer[]) is
  'Internal, for moving slots: takes the jobs of slots that are leaving out of the queue, and returns the slots of which jobs still run.';

-- Returns the jobs of slots. A job in a named queue has the slot of the queue, otherwise that of its key: the slot that was
-- recorded for the name, otherwise that of its hash. It reads all jobs, as no index knows slots.
create or replace function {{.schema}}._gw_jobs_of_slots(
  slots smallint[]
)
  returns table (slot smallint, id bigint, locked_at timestamptz, locked_by text)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  with queue as (
    select q.id, coalesce(n.slot, {{.schema}}.shard_slot(q.queue_name)) as slot
      from (select q.id, q.queue_name from {{.schema}}._private_job_queues as q
            union all
            select g.id, g.queue_name from {{.schema}}._gw_groups as g where g.queue_name is not null) as q
      left join {{.schema}}._gw_shard_names as n on n.kind = 'queue' and n.name = q.queue_name
  )
  select w.slot, w.id, w.locked_at, w.locked_by
    from (select coalesce(q.slot, n.slot, {{.schema}}.shard_slot(j.key)) as slot, j.id, j.locked_at, j.locked_by
            from {{.schema}}._private_jobs as j
            left join queue as q on q.id = j.job_queue_id
            left join {{.schema}}._gw_shard_names as n on n.kind = 'key' and n.name = j.key) as w
   where w.slot = any (slots)
$$;

comment on function {{.schema}}._gw_jobs_of_slots(smallint[]) is
  'Internal, for moving slots: returns the jobs of slots.';

-- Returns the slot of a key: that which was recorded, otherwise that of its hash.
create or replace function {{.schema}}._gw_slot_of_key(
  key text
)
  returns smallint
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select n.slot from {{.schema}}._gw_shard_names as n where n.kind = 'key' and n.name = key), {{.schema}}.shard_slot(key))
$$;

comment on function {{.schema}}._gw_slot_of_key(text) is
  'Internal: returns the slot of a key.';

-- Takes up to most jobs without a queue and a key, which have no slot, out of the queue, to be imported by target as those of
-- slot -1.
-- Returns their number.
-- Locks: job rows by id, skipping those that other transactions have locked.
create or replace function {{.schema}}._gw_export_loose_jobs(
  most   integer,
  target text
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  taken bigint[];
begin
  taken := array(
    select j.id
      from {{.schema}}._private_jobs as j
     where j.locked_at is null and j.key is null
       and (j.job_queue_id is null
            or j.job_queue_id < 0
               and (select g.queue_name from {{.schema}}._gw_groups as g where g.id = j.job_queue_id) is null)
     order by j.id
     limit most
       for update skip locked);
  perform {{.schema}}._gw_put_in_transit('{}', taken);
  update {{.schema}}._gw_shard_transit as t
     set target = _gw_export_loose_jobs.target
   where t.slot = -1 and t.target is null;
  return cardinality(taken);
end;
$$;

comment on function {{.schema}}._gw_export_loose_jobs(integer, text) is
  'Internal, for draining a shard: takes jobs without a queue and a key out of the queue, and returns their number.';

-- Returns the shards that jobs without a slot are being moved to.
create or replace function {{.schema}}._gw_loose_targets()
  returns setof text
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select distinct t.target from {{.schema}}._gw_shard_transit as t where t.slot = -1 and t.kind = 'job'
$$;

comment on function {{.schema}}._gw_loose_targets() is
  'Internal, for draining a shard: returns the shards that jobs without a slot are being moved to.';
