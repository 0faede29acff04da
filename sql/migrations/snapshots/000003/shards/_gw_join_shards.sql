-- Makes this database a shard, or adds what it does not know yet. owners are the shards by slot, 256 names. A database that is
-- a shard already keeps its name and its slots; gw-migrate passes what the shards themselves say. Returns whether it was new.
-- Raises GWSJN (another name, or jobs that were added before).
create or replace function {{.schema}}._gw_join_shards(
  name   text,
  owners text[]
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  self   text;
  is_new boolean;
begin
  insert into {{.schema}}._gw_shard as s (name) values (_gw_join_shards.name) on conflict do nothing;
  is_new := found;
  select s.name into self from {{.schema}}._gw_shard as s for update;
  if self <> name then
    raise exception 'This database is the shard %, not %.', self, name
      using errcode = 'GWSJN', hint = 'The names of shards in the map must stay as they were.';
  end if;
  if is_new and exists (select from unnest(owners) as o (owner) where o.owner <> _gw_join_shards.name)
     and exists (select from {{.schema}}._private_jobs) and name = any (owners) then
    raise exception 'The database of shard % has jobs, which may belong to slots of other shards.', name
      using errcode = 'GWSJN', hint = 'Give this shard all slots (slots: 0-255) first, then move some of them: gw-run shards move.';
  end if;
  insert into {{.schema}}._gw_shard_slots as s (slot, shard, state)
  select (o.number - 1)::smallint, o.owner, case when o.owner = self then 'here' else 'away' end
    from unnest(owners) with ordinality as o (owner, number)
      on conflict on constraint _gw_shard_slots_pkey do nothing;
  return is_new;
end;
$$;

comment on function {{.schema}}._gw_join_shards(text, text[]) is
  'Internal, for gw-migrate --shards: makes this database a shard with its slots, and returns whether it was none before.';

-- Returns the slots as this shard knows them: of those in other shards the last one that it was told of. The higher version of
-- a slot is the later one.
create or replace function {{.schema}}.list_shard_slots()
  returns table (slot smallint, shard text, version integer, state text, target text, changed_at timestamptz, jobs_in_transit bigint)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select s.slot, s.shard, s.version, s.state, s.target, s.changed_at,
         case when s.state in ('leaving', 'left')
              then (select count(*) from {{.schema}}._gw_shard_transit as t where t.slot = s.slot and t.kind = 'job')
              else 0 end
    from {{.schema}}._gw_shard_slots as s
   order by s.slot
$$;

comment on function {{.schema}}.list_shard_slots() is
  'Returns the slots of all shards as this one knows them. state: here; away, in another shard; leaving and left, while this shard has them and they are being moved to target. jobs_in_transit: jobs that no worker claims until the move is complete. No rows: this database is not a shard.';

-- Returns the name of this shard, null if the database is none.
create or replace function {{.schema}}.shard_name()
  returns text
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select s.name from {{.schema}}._gw_shard as s
$$;

comment on function {{.schema}}.shard_name() is
  'Returns the name of this shard, null if the database is none.';
