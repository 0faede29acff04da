-- Records the failures of jobs, each as fail_job does. failures is an array of objects
--   {"id": 7, "lease": 1763683200123456, "message": "no such host", "retry_in": 60, "payload": [3], "permanent": false}
-- of which only id is required. Give retry_in, in seconds, or retry_at. Returns the new state of each job that it
-- changed, as fail_job does. This worker no longer held the jobs that are missing (by their leases, if given).
-- Escapes in a message that stand for no text (\u0000 and half of a surrogate pair) become U+FFFD. In a payload they
-- are kept.
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB if failures is not such an array; GWWRT if a failure has both retry_at and retry_in, or if retry_in is
-- not a number; and an error of class 22, such as 22P02, if a value has the wrong type.
create or replace function {{.schema}}.fail_job_batch(
  worker_id text,
  failures  json
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  mark     text; -- replaces such escapes, if any, while the JSON is read; the JSON functions would raise an error for them
  wrong    text;
  reported {{.schema}}._gw_failure[];
begin
  if json_typeof(failures) is distinct from 'array' then
    raise exception 'Failures must be a JSON array of objects.' using errcode = 'GWWOB';
  end if;
  if failures::text ~ E'\\\\u(0000|[dD][89a-fA-F])' then
    mark := md5(failures::text);
    failures := {{.schema}}._gw_mark_escapes(failures, mark);
  end if;
  select f.failure::text into wrong
    from json_array_elements(failures) as f (failure)
   where json_typeof(f.failure) <> 'object' or json_typeof(f.failure -> 'id') is distinct from 'number'
   limit 1;
  if found then
    raise exception 'A failure must be an object with a numeric id, not %.', left(wrong, 200) using errcode = 'GWWOB';
  end if;
  select k.name into wrong
    from json_array_elements(failures) as f (failure)
   cross join json_object_keys(f.failure) as k (name)
   where k.name not in ('id', 'lease', 'message', 'retry_at', 'retry_in', 'payload', 'permanent')
   limit 1;
  if found then
    raise exception 'A failure has no key ''%''.', wrong
      using errcode = 'GWWOB', hint = 'The keys are id, lease, message, retry_at, retry_in, payload and permanent.';
  end if;
  select f.failure ->> 'id' into wrong
    from json_array_elements(failures) as f (failure)
   where f.failure ->> 'retry_at' is not null and f.failure ->> 'retry_in' is not null
   limit 1;
  if found then
    raise exception 'Give retry_at or retry_in, not both: job %.', wrong using errcode = 'GWWRT';
  end if;
  select f.failure ->> 'id' into wrong
    from json_array_elements(failures) as f (failure)
   where f.failure ->> 'retry_in' ilike '%nan%'
   limit 1;
  if found then
    raise exception 'retry_in must be a number: job %.', wrong using errcode = 'GWWRT';
  end if;

  select coalesce(array_agg(row(
           (f.failure ->> 'id')::bigint,
           (f.failure ->> 'lease')::bigint,
           case when mark is null then f.failure ->> 'message'
                else {{.schema}}._gw_without_marks(f.failure ->> 'message', mark) end,
           coalesce((f.failure ->> 'retry_at')::timestamptz,
                    {{.schema}}._gw_after_seconds(now(), (f.failure ->> 'retry_in')::double precision)),
           case when mark is null then f.failure -> 'payload'
                else replace((f.failure -> 'payload')::text, mark, E'\\u')::json end,
           coalesce((f.failure ->> 'permanent')::boolean, false))::{{.schema}}._gw_failure), '{}')
    into reported
    from json_array_elements(failures) as f (failure);
  perform {{.schema}}._gw_check_outcomes(array(select r.job_id from unnest(reported) as r), null);

  return query
  select f.id, f.state, f.run_at, f.attempts, f.max_attempts
    from {{.schema}}._gw_fail_jobs(worker_id, reported) as f;
end;
$$;

comment on function {{.schema}}.fail_job_batch(text, json) is
  'Records the failures of jobs. failures: an array of objects {id, lease, message, retry_at, retry_in (seconds), payload, permanent}, of which only id is required. Returns the new state of each job that the worker still held: id, state (ready, scheduled or failed), run_at, attempts and max_attempts.';
