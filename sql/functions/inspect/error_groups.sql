-- Returns the most frequent errors of failed jobs, of one task or of all. Errors are one group if _gw_error_group
-- returns the same text for them; search_jobs and matching_job_ids select the jobs of a group by its task and this
-- text. example is the first line of the newest; newest_id the newest job with the error, first_failed_at and failed_at
-- when the first and the last of the jobs failed.
-- The cost is bounded: of more than max_read failed jobs only a fifth of that number is read, half of it the newest,
-- half spread evenly over the ids of the others. Then is_cut is true, jobs is an estimate, and rare errors are missing.
-- Raises GWILM (max_rows or max_read is negative).
create or replace function {{.schema}}.error_groups(
  task     text    default null,
  max_rows integer default 10,
  max_read integer default 50000
)
  returns table (
    task_identifier text,
    error_group     text,
    example         text,
    jobs            bigint,
    newest_id       bigint,
    failed_at       timestamptz,
    is_cut          boolean,
    first_failed_at timestamptz
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('max_read', max_read);
  return query
  select t.identifier, g.error_group, g.example, g.jobs, g.newest_id, g.failed_at, g.is_cut, g.first_failed_at
    from {{.schema}}._gw_groups_of_errors(max_read) as g
    left join {{.schema}}._private_tasks as t on t.id = g.task_id
   where error_groups.task is null or t.identifier = error_groups.task
   order by g.jobs desc, g.newest_id desc
   limit max_rows;
end;
$$;

comment on function {{.schema}}.error_groups(text, integer, integer) is
  'Returns the most frequent errors of failed jobs, of a task or of all: first lines that differ only in ids, numbers of four or more digits, addresses and quoted texts are one group. error_group: for the condition of search_jobs and matching_job_ids; example: the first line of the newest; is_cut: there are more than max_read failed jobs, so that a part was read and jobs is an estimate.';

-- Returns the groups of the errors of failed jobs, for error_groups and doctor.
create or replace function {{.schema}}._gw_groups_of_errors(max_read integer)
  returns table (task_id integer, error_group text, example text, jobs bigint, newest_id bigint, failed_at timestamptz,
                 is_cut boolean, first_failed_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  with lines as ( -- many errors are equal, and the search for what they have in common takes longer than all the rest
    select f.task_id, f.line, sum(f.weight) as jobs, max(f.id) as newest_id, min(f.updated_at) as first_failed_at,
           max(f.updated_at) as failed_at, bool_or(f.is_cut) as is_cut
      from {{.schema}}._gw_failed_jobs(max_read) as f
     group by f.task_id, f.line
    offset 0
  )
  select g.task_id, g.error_group, coalesce(left((array_agg(g.line order by g.newest_id desc))[1], 200), ''),
         round(sum(g.jobs))::bigint, max(g.newest_id), max(g.failed_at), bool_or(g.is_cut), min(g.first_failed_at)
    from (select l.*, {{.schema}}._gw_error_group(l.line) as error_group from lines as l offset 0) as g
   group by g.task_id, g.error_group;
end;
$$;

-- Returns the failed jobs with the first lines of their errors, or, of more than max_read, a fifth of that number: half
-- of it the newest, and half from 200 equal ranges of the ids of the others. weight: for how many jobs a job stands.
create or replace function {{.schema}}._gw_failed_jobs(max_read integer)
  returns table (id bigint, task_id integer, updated_at timestamptz, line text, weight double precision, is_cut boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  ranges  constant integer := 200;
  part    constant integer := greatest(1, max_read / 10);
  ids     bigint[];
  newest  bigint; -- from this id on all are read, null: all
  first   bigint;
begin
  ids := array(select j.id from {{.schema}}._private_jobs as j
                where j.locked_at is null and not j.is_available
                  and case when j.locked_at is not null then j.job_queue_id else 0 end = 0 -- for the index
                order by j.id desc limit max_read::bigint + 1);
  if cardinality(ids) > max_read then
    newest := ids[part];
    first := (select j.id from {{.schema}}._private_jobs as j
               where j.locked_at is null and not j.is_available
                 and case when j.locked_at is not null then j.job_queue_id else 0 end = 0
               order by j.id limit 1);
  end if;
  return query
  select j.id, j.task_id, j.updated_at, {{.schema}}._gw_first_line(j.last_error), 1::double precision,
         newest is not null
    from {{.schema}}._private_jobs as j
   where j.locked_at is null and not j.is_available
     and case when j.locked_at is not null then j.job_queue_id else 0 end = 0
     and (newest is null or j.id >= newest)
  union all
  select j.id, j.task_id, j.updated_at, {{.schema}}._gw_first_line(j.last_error),
         case when j.found < part / ranges + 1 then 1
              else greatest(1, (r.until - r.since) / (j.last - r.since + 1)::double precision) end, true
    from (select first + ((newest - first)::numeric * n / ranges)::bigint as since,
                 first + ((newest - first)::numeric * (n + 1) / ranges)::bigint as until
            from generate_series(0, ranges - 1) as n
           where newest > first) as r
   cross join lateral (
          select f.*, count(*) over () as found, max(f.id) over () as last
            from (select j.id, j.task_id, j.updated_at, j.last_error
                    from {{.schema}}._private_jobs as j
                   where j.locked_at is null and not j.is_available
                     and case when j.locked_at is not null then j.job_queue_id else 0 end = 0
                     and j.id >= r.since and j.id < r.until
                   order by j.id
                   limit part / ranges + 1) as f) as j;
end;
$$;

-- Returns the first line of an error that is not empty, without leading blanks; null if there is none. It is a single
-- expression, so that PostgreSQL inlines it.
create or replace function {{.schema}}._gw_first_line(error text)
  returns text language sql immutable
as $$
  select case when pg_catalog.ltrim(pg_catalog.left(error, 1000), e' \t\r\n') operator(pg_catalog.<>) '' then
           pg_catalog.rtrim(pg_catalog.split_part(pg_catalog.translate(
             pg_catalog.ltrim(pg_catalog.left(error, 1000), e' \t\r\n'), e'\r', e'\n'), e'\n', 1)) end
$$;

-- Returns what an error has in common with others of its kind: its first line with * in place of UUIDs, of hexadecimal
-- numbers of eight or more digits, of numbers of four or more, of e-mail addresses and of quoted texts. A status such
-- as 503 stays.
create or replace function {{.schema}}._gw_error_group(error text)
  returns text language sql immutable
as $$
  select coalesce(pg_catalog.left(pg_catalog.regexp_replace({{.schema}}._gw_first_line(error),
    '[^][:space:]["''`<>(){},;:=@]+@[[:alnum:]_.-]+|"[^"]*"|`[^`]*`|(?<![[:alnum:]])''[^'']*''(?![[:alnum:]])|'
    '[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*|[0-9]{4,}', '*', 'g'), 200), '(no error)')
$$;

-- Returns the longest text that stands in each error of a group as it is, null if there is none; see _gw_is_of_group.
create or replace function {{.schema}}._gw_part_of_group(error_group text)
  returns text language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select u.part
    from unnest(string_to_array(nullif(error_group, '(no error)'), '*')) as u (part)
   order by length(u.part) desc
   limit 1
$$;

-- Returns whether an error belongs to a group, of which part is a part: to look for that first takes less time.
create or replace function {{.schema}}._gw_is_of_group(error text, error_group text, part text)
  returns boolean language sql immutable
as $$
  select case when part is null or pg_catalog.strpos(error, part) operator(pg_catalog.>) 0
              then {{.schema}}._gw_error_group(error) operator(pg_catalog.=) error_group else false end
$$;
