-- Raises an error for invalid recurring jobs; otherwise stores their patterns.
-- source is where a single job comes from. It is null for the items of a list; their errors name the number of the
-- item.
-- Locks: new patterns, sorted.
-- Raises GWRIT, GWRPT, GWRTZ, what add_job would raise for the jobs, and 22P05 or 22P02 for a payload with escapes that
-- stand for no text.
create or replace function {{.schema}}._gw_check_crons(entries {{.schema}}._gw_schedules[], source text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  entry record;
  place text := source;
begin
  select e.* into entry
    from unnest(entries) with ordinality as e
   where e.identifier is null
      or length(e.identifier) not between 1 and 128
      or length(e.pattern) > 1000
      or json_typeof(e.payload) <> 'object'
      or e.fill not between interval '0' and interval '100 years'
      or e.job_key_mode not in ('replace', 'preserve_run_at', 'unsafe_dedupe')
      or {{.schema}}._gw_job_is_refused(e.task, e.queue_name, e.max_attempts, e.job_key, e.priority, e.flags)
   order by e.ordinality
   limit 1;
  if found then
    place := coalesce(place, 'item ' || entry.ordinality || ' of run_cron call');
    perform {{.schema}}._gw_refuse_job(
      entry.task, entry.queue_name, entry.max_attempts, entry.job_key, entry.priority, entry.flags,
      case when source is null then entry.ordinality end);
    if entry.job_key_mode not in ('replace', 'preserve_run_at', 'unsafe_dedupe') then
      raise exception 'Invalid job_key_mode value, expected ''replace'', ''preserve_run_at'' or ''unsafe_dedupe''.'
        using errcode = 'GWBKM', detail = 'It is in ' || place || '.';
    elsif length(entry.pattern) > 1000 then
      raise exception 'Cron pattern in % is too long (max length: 1000).', place using errcode = 'GWRPT';
    end if;
    raise exception '%',
      case when json_typeof(entry.payload) <> 'object' then 'Payload in ' || place || ' must be an object.'
           when entry.fill < interval '0' then 'Fill in ' || place || ' must not be negative.'
           when entry.fill > interval '100 years' then 'Fill in ' || place || ' must be at most 100 years.'
           else 'Identifier in ' || place || ' must be 1 to 128 characters long.' end
      using errcode = 'GWRIT';
  end if;

  select e.identifier into entry from unnest(entries) as e group by e.identifier having count(*) > 1 limit 1;
  if found then
    raise exception 'Identifier ''%'' occurs more than once.', entry.identifier using errcode = 'GWRIT';
  end if;
  perform {{.schema}}._gw_check_zone(z.time_zone) from (select distinct e.time_zone from unnest(entries) as e) as z;

  -- A job that add_job would refuse would make every later tick of all recurring jobs fail.
  perform {{.schema}}._gw_check_payload({{.schema}}._gw_cron_payload(e.payload, now(), false))
     from unnest(entries) as e
    where e.payload is not null and (source is not null or pg_column_size(e.payload) > 2000);

  perform {{.schema}}._gw_remember_patterns(entries, source);
end;
$$;

comment on function {{.schema}}._gw_check_crons({{.schema}}._gw_schedules[], text) is 'Internal: raises an error for invalid recurring jobs; otherwise stores their patterns.';
