-- Returns how many workers have this shard as their home, visitors excluded, and how many jobs are due or running. Worker
-- processes choose their home by it. The ids of visitors end with .visitor.
create or replace function {{.schema}}._gw_shard_load()
  returns table (homes bigint, jobs bigint)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select (select count(*)
            from {{.schema}}._gw_workers as w
           where w.id not like '%.visitor' and w.last_seen_at > now() - 4 * {{.schema}}.setting('beat_every')::interval),
         {{.schema}}.jobs_for_scaling()::bigint
$$;

comment on function {{.schema}}._gw_shard_load() is
  'Internal, for gw-run --shards: returns how many workers have this shard as their home, and how many jobs are due or running.';
