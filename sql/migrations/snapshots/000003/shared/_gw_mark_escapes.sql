-- Some JSON escapes stand for no text that the database can store: \u0000, half of a surrogate pair, and characters
-- that its encoding lacks. The type json stores them, but reading any part of such a value raises 22P05, 22P02 or
-- 22023.

-- Returns a pattern for these escapes, and more where it depends on the version which ones are converted: those above
-- 007F, and for LATIN1 since PostgreSQL 13 those above 00FF.
create or replace function {{.schema}}._gw_odd_escapes()
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  select E'\\\\u(0000|' || case
    when getdatabaseencoding() = 'UTF8' then '[dD][89a-fA-F]..'
    when getdatabaseencoding() = 'LATIN1' and current_setting('server_version_num')::integer >= 130000 then '0[1-9a-fA-F]..|[1-9a-fA-F]...'
    else '00[89a-fA-F].|0[1-9a-fA-F]..|[1-9a-fA-F]...' end || ')'
$$;

comment on function {{.schema}}._gw_odd_escapes() is 'Internal: returns a pattern for these escapes, and more where it depends on the version which ones are converted: those above 007F, and for LATIN1 since PostgreSQL 13 those above 00FF.';

-- Returns the JSON with a mark in place of the \u of these escapes. The mark occurs nowhere else in it, so replace()
-- restores the original.
create or replace function {{.schema}}._gw_mark_escapes(document json, mark text)
  returns json language sql stable set search_path = pg_catalog, pg_temp
as $$
  select string_agg(case when p.part[1] ~ o.pattern then replace(p.part[1], E'\\u', mark) else p.part[1] end, '' order by p.place)::json
    from (select '^' || {{.schema}}._gw_odd_escapes() || case getdatabaseencoding() when 'UTF8' then '$' else '' end as pattern) as o
   cross join regexp_matches(document::text, E'\\\\u[dD][89abAB]..\\\\u[dD][c-fC-F]..|\\\\u....|\\\\.|[^\\\\]+', 'g')
           with ordinality as p (part, place)
$$;

comment on function {{.schema}}._gw_mark_escapes(json, text) is 'Internal: returns the JSON with a mark in place of the \u of these escapes.';

-- Returns a text of such JSON with U+FFFD for each of these escapes, or the escape itself if the encoding of the
-- database lacks U+FFFD.
create or replace function {{.schema}}._gw_without_marks(message text, mark text)
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  -- The planner evaluates chr() of a constant, which raises an error in other encodings.
  select case when getdatabaseencoding() = 'UTF8'
              then regexp_replace(message, mark || '....', chr(case getdatabaseencoding() when 'UTF8' then 65533 else 63 end), 'g')
              else replace(message, mark, E'\\u') end
$$;

comment on function {{.schema}}._gw_without_marks(text, text) is 'Internal: returns a text of such JSON with U+FFFD for each of these escapes, or the escape itself if the encoding of the database lacks U+FFFD.';
