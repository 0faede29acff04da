-- Some escapes of JSON stand for no text that PostgreSQL can have: \u0000, and half a surrogate pair. The type json stores
-- them, but whatever reads a part of the JSON raises 22P05 or 22P02 over one that stands elsewhere in it.

-- The JSON with a mark in place of the \u of these. With a mark that is nowhere in it, replace() undoes that.
create or replace function {{.schema}}._gw_mark_escapes(
  document json,
  mark     text
)
  returns json
  language sql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
  select string_agg(case when p.part[1] ~ E'^\\\\u(0000|[dD][89a-fA-F]..)$' then mark || substr(p.part[1], 3) else p.part[1] end,
                    '' order by p.place)::json
    from regexp_matches(document::text, E'\\\\u[dD][89abAB]..\\\\u[dD][c-fC-F]..|\\\\u....|\\\\.|[^\\\\]+', 'g')
           with ordinality as p (part, place)
$$;

comment on function {{.schema}}._gw_mark_escapes(json, text) is
  'Internal: the JSON with marks in place of escapes that stand for no text.';

-- A text of such JSON, with U+FFFD for each of them, or a question mark where the database has no such character.
create or replace function {{.schema}}._gw_without_marks(
  message text,
  mark    text
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select regexp_replace(message, mark || '....', case getdatabaseencoding() when 'UTF8' then chr(65533) else '?' end, 'g')
$$;

comment on function {{.schema}}._gw_without_marks(text, text) is
  'Internal: a text of JSON that _gw_mark_escapes has made, with something to see in place of the marks.';
