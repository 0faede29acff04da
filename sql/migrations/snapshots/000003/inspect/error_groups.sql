-- Returns the most frequent errors of failed jobs, of one task or of all: first lines that differ only in their numbers are
-- one group. prefix is the beginning of the first line of each, up to its first digit, for search_jobs; newest_id is the
-- newest job with the error, example its first line; is_cut is true if not all failed jobs were read.
-- The cost is bounded: only the newest max_read failed jobs are read.
-- Raises GWILM (max_rows or max_read is negative).
create or replace function {{.schema}}.error_groups(
  task     text    default null,
  max_rows integer default 10,
  max_read integer default 5000
)
  returns table (
    task_identifier text,
    prefix          text,
    example         text,
    jobs            bigint,
    newest_id       bigint,
    failed_at       timestamptz,
    is_cut          boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set enable_seqscan = off
  set jit = off
as $$
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('max_read', max_read);
  return query
  with failed as (
    select j.id, j.task_id, j.updated_at, left(split_part(left(j.last_error, 1000), e'\n', 1), 200) as line
      from {{.schema}}._private_jobs as j
     where j.locked_at is null and not j.is_available
       and case when j.locked_at is not null then j.job_queue_id else 0 end = 0 -- for the index
     order by j.id desc
     limit max_read
  )
  select t.identifier, substring(min(f.line) from '^[^0-9]*'), (array_agg(f.line order by f.id desc))[1], count(*), max(f.id),
         max(f.updated_at), (select count(*) from failed) >= max_read
    from failed as f
    join {{.schema}}._private_tasks as t on t.id = f.task_id
   where error_groups.task is null or t.identifier = error_groups.task
   group by t.identifier, regexp_replace(f.line, '[0-9]+', '0', 'g')
   order by count(*) desc, max(f.id) desc
   limit max_rows;
end;
$$;

comment on function {{.schema}}.error_groups(text, integer, integer) is
  'Returns the most frequent errors of the newest max_read failed jobs, of a task or of all: first lines that differ only in their numbers are one group. prefix: the beginning of these errors; example: the first line of the newest; is_cut: there may be more failed jobs than were read.';
