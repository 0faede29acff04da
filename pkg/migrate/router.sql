-- Routes calls of SQL producers to shards, by PL/Proxy. Run this in a database of its own, or in that of the application, as a
-- superuser. After slots were moved, print it again: with an old map, calls for moved slots fail with the code GWSLT.
--
-- Each call is a transaction of its own in the shard: if the caller rolls back, the job stays. A shard that is away makes the
-- calls for its slots fail, no others. A slot that is being moved makes calls fail with GWSMV: try again.
create extension if not exists plproxy;
create schema if not exists SCHEMA;
drop server if exists SERVER cascade;
create server SERVER foreign data wrapper plproxy options (
PARTITIONS
);
create user mapping for public server SERVER; -- passwords belong into .pgpass of the server

create or replace function SCHEMA.shard_slot(
  shard_key text
)
  returns integer
  language sql
  stable
as $$
  select pg_catalog.get_byte(pg_catalog.sha256(pg_catalog.convert_to(shard_key, 'UTF8')), 0)
$$;
comment on function SCHEMA.shard_slot(text) is
  'Returns the slot of a shard key, 0 to 255: the first byte of the SHA-256 of its UTF-8 text.';

create or replace function SCHEMA._gw_route(
  shard_key  text,
  queue_name text,
  job_key    text
)
  returns integer
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if shard_key is null and SCHEMA.shard_slot(queue_name) <> SCHEMA.shard_slot(job_key) then
    raise exception 'The queue ''%'' and the key ''%'' have different slots.', queue_name, job_key
      using errcode = 'GWSNS', hint = 'Pass a shard_key, such as the name of the queue, in every call about this key.';
  end if;
  return coalesce(SCHEMA.shard_slot(coalesce(shard_key, queue_name, job_key)), floor(random() * 256)::integer);
end;
$$;
comment on function SCHEMA._gw_route(text, text, text) is 'Internal: returns the slot of a job.';

create or replace function SCHEMA._gw_add_job_at(
  slot integer, identifier text, payload json, queue_name text, run_at timestamptz, max_attempts integer, job_key text,
  priority integer, flags text[], job_key_mode text
)
  returns bigint
  language plproxy
as $$
  cluster 'CLUSTER';
  run on slot;
  select j.id from SCHEMA.add_job_at(slot, identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, job_key_mode) as j;
$$;
comment on function SCHEMA._gw_add_job_at(integer, text, json, text, timestamptz, integer, text, integer, text[], text) is
  'Internal: adds a job in the shard that has the slot.';

create or replace function SCHEMA.add_job(
  identifier   text,
  payload      json        default null,
  queue_name   text        default null,
  run_at       timestamptz default null,
  max_attempts integer     default null,
  job_key      text        default null,
  priority     integer     default null,
  flags        text[]      default null,
  job_key_mode text        default 'replace',
  shard_key    text        default null,
  out id       bigint
)
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  select SCHEMA._gw_add_job_at(
    SCHEMA._gw_route(shard_key, queue_name, job_key), identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, job_key_mode)
$$;
comment on function SCHEMA.add_job(text, json, text, timestamptz, integer, text, integer, text[], text, text) is
  'Adds a job in its shard, in a transaction of its own, and returns its id in that shard. The arguments are those of add_job() of a queue, and shard_key.';

create or replace function SCHEMA._gw_remove_job_at(
  slot integer, job_key text
)
  returns bigint
  language plproxy
as $$
  cluster 'CLUSTER';
  run on slot;
  select j.id from SCHEMA.remove_job_at(slot, job_key) as j;
$$;
comment on function SCHEMA._gw_remove_job_at(integer, text) is 'Internal: removes a job in the shard that has the slot.';

create or replace function SCHEMA.remove_job(
  job_key   text,
  shard_key text default null,
  out id    bigint
)
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  select SCHEMA._gw_remove_job_at(SCHEMA._gw_route(shard_key, null, job_key), job_key)
$$;
comment on function SCHEMA.remove_job(text, text) is
  'Removes the job under a key in its shard, in a transaction of its own, and returns its id; null if there is none.';
