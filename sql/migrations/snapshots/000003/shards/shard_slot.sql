-- Returns the slot of a shard key, 0 to 255: the first byte of the SHA-256 of its UTF-8 text; null for null.
create or replace function {{.schema}}.shard_slot(
  shard_key text
)
  returns smallint
  language sql
  stable
as $$
  select pg_catalog.get_byte(pg_catalog.sha256(pg_catalog.convert_to(shard_key, 'UTF8')), 0)::smallint
$$;

comment on function {{.schema}}.shard_slot(text) is
  'Returns the slot of a shard key, 0 to 255: the first byte of the SHA-256 of its UTF-8 text.';
