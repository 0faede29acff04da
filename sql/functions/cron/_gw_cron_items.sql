-- Returns the items of run_cron as rows of _gw_schedules, in their order and with defaults for omitted keys.
-- Raises GWRIT (not an array of objects; if is_strict, also an unknown key), class 22 (a value of the wrong type).
create or replace function {{.schema}}._gw_cron_items(items json, is_strict boolean)
  returns {{.schema}}._gw_schedules[] language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  known_keys  constant text[] := array['identifier', 'task', 'pattern', 'time_zone', 'payload', 'fill', 'queue_name',
                                       'max_attempts', 'priority', 'job_key', 'job_key_mode', 'flags'];
  unknown_key text;
begin
  if json_typeof(items) is distinct from 'array'
     or is_strict and exists (select from json_array_elements(items) as i (item) where json_typeof(i.item) <> 'object') then
    raise exception 'Items must be a JSON array of objects.' using errcode = 'GWRIT';
  end if;
  if is_strict then
    select k.key into unknown_key
      from json_array_elements(items) as i (item)
     cross join lateral json_object_keys(i.item) as k (key)
     where k.key <> all (known_keys)
     limit 1;
    if found then
      raise exception 'Items have no key ''%''.', unknown_key
        using errcode = 'GWRIT', hint = 'The keys are ' || array_to_string(known_keys, ', ') || '.';
    end if;
  end if;
  return array(
    select (coalesce(i.identifier, i.task), i.task, i.pattern, coalesce(i.time_zone, 'UTC'),
            case when json_typeof(i.payload) <> 'null' then i.payload end, coalesce(i.fill, '0'), i.queue_name, i.max_attempts,
            i.priority, i.job_key, i.job_key_mode, i.flags, false, '-infinity', null, null)::{{.schema}}._gw_schedules
      from json_populate_recordset(null::{{.schema}}._gw_schedules, items) as i);
end;
$$;
