-- Returns the forbidden flags of single tasks in the form that _gw_suits takes: the ids of these tasks, and one row of
-- flags for each. All rows have the same length; short ones are filled with nulls, which match no flag.
-- task_ids: the tasks that may be claimed, all if null. A task and a flagged job of it may be added before the claim
-- searches for jobs. So the caller looks up task_ids before this call. If task_ids is null and a task with forbidden
-- flags does not exist yet, the function returns all existing tasks in its place.
-- Raises GWWFF (not an object of lists of texts).
create or replace function {{.schema}}._gw_task_flags(
  task_forbidden_flags json, inout task_ids integer[], out flagged_tasks integer[], out task_flags text[])
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  wrong record;
begin
  if strpos(task_forbidden_flags::text, E'\\u') > 0 then -- no flag is such a text
    task_forbidden_flags := {{.schema}}._gw_mark_escapes(task_forbidden_flags, md5(task_forbidden_flags::text));
  end if;
  if json_typeof(task_forbidden_flags) <> 'object' then
    raise exception 'Forbidden flags of tasks must be an object of lists, not %.', left(task_forbidden_flags::text, 100)
      using errcode = 'GWWFF';
  end if;
  select o.task, o.flags
    into wrong
    from json_each(task_forbidden_flags) as o (task, flags)
   where json_typeof(o.flags) <> 'array'
      or exists (select from json_array_elements(case when json_typeof(o.flags) = 'array' then o.flags end) as f (flag)
                  where json_typeof(f.flag) <> 'string')
   limit 1;
  if found then
    raise exception 'Forbidden flags of the task % must be a list of texts, not %.', wrong.task, left(wrong.flags::text, 100)
      using errcode = 'GWWFF';
  end if;

  with listed as materialized (
    select (select t.id from {{.schema}}._private_tasks as t where t.identifier = o.task) as task_id, o.flags
      from jsonb_each(task_forbidden_flags::jsonb) as o (task, flags)
  ), longest (length) as materialized (
    select greatest(max(jsonb_array_length(l.flags)), 1) from listed as l
  )
  select array_agg(l.task_id order by l.task_id) filter (where l.task_id is not null),
         array_agg(array(select l.flags ->> n from generate_series(0, (select m.length - 1 from longest as m)) as n)
                   order by l.task_id) filter (where l.task_id is not null),
         case when _gw_task_flags.task_ids is null and bool_or(l.task_id is null)
              then array(select t.id from {{.schema}}._private_tasks as t)
              else _gw_task_flags.task_ids
         end
    into flagged_tasks, task_flags, task_ids
    from listed as l;
end;
$$;
