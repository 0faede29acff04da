-- Some JSON escapes stand for no text that PostgreSQL can store: \u0000 and half of a surrogate pair. The type json
-- stores them, but reading any part of such a value raises 22P05 or 22P02.

-- Returns the JSON with a mark in place of the \u of these escapes. The mark occurs nowhere else in it, so replace()
-- restores the original.
create or replace function {{.schema}}._gw_mark_escapes(document json, mark text)
  returns json language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select string_agg(case when p.part[1] ~ E'^\\\\u(0000|[dD][89a-fA-F]..)$' then mark || substr(p.part[1], 3) else p.part[1] end,
                    '' order by p.place)::json
    from regexp_matches(document::text, E'\\\\u[dD][89abAB]..\\\\u[dD][c-fC-F]..|\\\\u....|\\\\.|[^\\\\]+', 'g')
           with ordinality as p (part, place)
$$;

comment on function {{.schema}}._gw_mark_escapes(json, text) is
  'Internal: returns the JSON with marks in place of escapes that stand for no text.';

-- Returns a text of such JSON with U+FFFD for each of these escapes, or a question mark if the encoding of the database
-- lacks U+FFFD.
create or replace function {{.schema}}._gw_without_marks(message text, mark text)
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  select regexp_replace(message, mark || '....', case getdatabaseencoding() when 'UTF8' then chr(65533) else '?' end, 'g')
$$;

comment on function {{.schema}}._gw_without_marks(text, text) is
  'Internal: replaces the marks of _gw_mark_escapes in a text by a visible character.';
