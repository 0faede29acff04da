-- Returns the forbidden flags of single tasks in the form that _gw_suits takes: an object with an array of PostgreSQL,
-- as a text, for the id of each of these tasks.
-- task_ids: the tasks that may be claimed, all if null. A task and a flagged job of it may be added before the claim
-- searches for jobs. So the caller looks up task_ids before this call. If task_ids is null and a task with forbidden
-- flags does not exist yet, the function returns all existing tasks in its place.
-- Raises GWWFF (not an object of lists of texts).
create or replace function {{.schema}}._gw_task_flags(
  task_forbidden_flags json, inout task_ids integer[], out task_flags jsonb)
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
  select o.task, o.flags into wrong
    from json_each(task_forbidden_flags) as o (task, flags)
   where json_typeof(o.flags) <> 'array'
      or exists (select from json_array_elements(case when json_typeof(o.flags) = 'array' then o.flags end) as f (flag)
                  where json_typeof(f.flag) <> 'string')
   limit 1;
  if found then
    raise exception 'Forbidden flags of the task % must be a list of texts, not %.', wrong.task, left(wrong.flags::text, 100)
      using errcode = 'GWWFF';
  end if;

  select jsonb_object_agg(t.id, array(select jsonb_array_elements_text(o.flags))::text) filter (where t.id is not null),
         case when _gw_task_flags.task_ids is null and bool_or(t.id is null)
              then array(select t.id from {{.schema}}._private_tasks as t)
              else _gw_task_flags.task_ids
         end into task_flags, task_ids
    from jsonb_each(task_forbidden_flags::jsonb) as o (task, flags)
    left join {{.schema}}._private_tasks as t on t.identifier = o.task;
end;
$$;

comment on function {{.schema}}._gw_task_flags(json, integer[]) is 'Internal: returns the forbidden flags of single tasks in the form that _gw_suits takes: an object with an array of PostgreSQL, as a text, for the id of each of these tasks.';
