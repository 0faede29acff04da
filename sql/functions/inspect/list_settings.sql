-- Returns all fleet-wide settings by name: their values, defaults and bounds, and when a value that differs from the
-- default was set.
create or replace function {{.schema}}.list_settings()
  returns table (
    name           text,
    value          text,
    default_value  text,
    least_value    text,
    greatest_value text,
    words          text[],
    meaning        text,
    updated_at     timestamptz
  )
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select k.name, coalesce(s.value, k.default_value), k.default_value, k.least_value, k.greatest_value, k.words,
         k.meaning, s.updated_at
    from {{.schema}}._gw_known_settings() as k
    left join {{.schema}}._gw_settings as s on s.name = k.name
   order by k.name
$$;

comment on function {{.schema}}.list_settings() is
  'Returns all fleet-wide settings by name: value, default, bounds or words, meaning, and when a value that differs from the default was set.';
