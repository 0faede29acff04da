-- Returns those of a worker's recurring jobs whose slot is in this shard, and keeps these slots here until the transaction
-- ends. The slot of a recurring job is that of its identifier. Every worker has all items of its crontab in each shard.
-- Locks: rows of slots, for key share.
create or replace function {{.schema}}._gw_crons_of_shard(
  entries {{.schema}}._gw_schedules[]
)
  returns {{.schema}}._gw_schedules[]
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  held smallint[];
begin
  held := array(
    select s.slot
      from {{.schema}}._gw_shard_slots as s
     where s.state = 'here'
       and s.slot in (select {{.schema}}.shard_slot(e.identifier) from unnest(entries) as e)
     order by s.slot
       for key share);
  return array(select e from unnest(entries) as e where {{.schema}}.shard_slot(e.identifier) = any (held));
end;
$$;

comment on function {{.schema}}._gw_crons_of_shard({{.schema}}._gw_schedules[]) is
  'Internal: returns those of a worker''s recurring jobs whose slot is in this shard.';

-- Records the slot of a due recurring job for its queue and its key, so that a move finds the jobs.
create or replace function {{.schema}}._gw_place_cron(
  entry {{.schema}}._gw_schedules
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_place_name('key', entry.job_key, {{.schema}}.shard_slot(entry.identifier)),
          {{.schema}}._gw_place_name('queue', entry.queue_name, {{.schema}}.shard_slot(entry.identifier));
end;
$$;

comment on function {{.schema}}._gw_place_cron({{.schema}}._gw_schedules) is
  'Internal: records the slot of a recurring job for its queue and its key.';
