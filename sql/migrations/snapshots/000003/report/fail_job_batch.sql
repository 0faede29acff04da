-- Records the failures of jobs, each as fail_job does. failures is an array of objects
--   {"id": 7, "lease": 1763683200123456, "message": "no such host", "retry_in": 60, "payload": [3], "permanent": false}
-- of which only id is required. Give retry_in, in seconds, or retry_at. Returns the new state of each job that it
-- changed, as fail_job does. This worker no longer held the jobs that are missing (by their leases, if given).
-- Escapes in a message that stand for no text (\u0000, half of a surrogate pair, and what the encoding of the database
-- lacks) become U+FFFD, or stay escapes if the encoding lacks that. In a payload they are kept.
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB if failures is not such an array; GWWRT if a failure has both retry_at and retry_in, or if retry_in is
-- not a number; and an error of class 22, such as 22P02, if a value has the wrong type.
create or replace function {{.schema}}.fail_job_batch(
  worker_id text,
  failures  json
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  mark     text; -- replaces such escapes, if any, while the JSON is read; the JSON functions would raise an error for them
  wrong    record;
  reported {{.schema}}._gw_outcome[];
begin
  if json_typeof(failures) is distinct from 'array' then
    raise exception 'Failures must be a JSON array of objects.' using errcode = 'GWWOB';
  end if;
  if strpos(failures::text, E'\\u') > 0 and failures::text ~ {{.schema}}._gw_odd_escapes() then
    mark := md5(failures::text);
    failures := {{.schema}}._gw_mark_escapes(failures, mark);
  end if;
  select p.code, p.problem into wrong
    from json_array_elements(failures) as f (failure)
   cross join lateral (values
     (1, 'GWWOB', case when json_typeof(f.failure) <> 'object' or json_typeof(f.failure -> 'id') is distinct from 'number'
                       then 'A failure must be an object with a numeric id, not ' || left(f.failure::text, 200) end),
     (2, 'GWWOB', (select format('A failure has no key ''%s''', k.name)
                     from json_object_keys(case when json_typeof(f.failure) = 'object' then f.failure end) as k (name)
                    where k.name not in ('id', 'lease', 'message', 'retry_at', 'retry_in', 'payload', 'permanent')
                    limit 1)),
     (3, 'GWWRT', case when f.failure ->> 'retry_at' is not null and f.failure ->> 'retry_in' is not null
                       then 'Give retry_at or retry_in, not both: job ' || (f.failure ->> 'id') end),
     (4, 'GWWRT', case when f.failure ->> 'retry_in' ilike '%nan%'
                       then 'retry_in must be a number: job ' || (f.failure ->> 'id') end)) as p (place, code, problem)
   where p.problem is not null
   order by p.place
   limit 1;
  if found then
    raise exception '%.', wrong.problem
      using errcode = wrong.code, hint = 'The keys of a failure are id, lease, message, retry_at, retry_in, payload and permanent.';
  end if;

  reported := array(
    select row((f.failure ->> 'id')::bigint, (f.failure ->> 'lease')::bigint,
             coalesce(case when mark is null then f.failure ->> 'message'
                           else {{.schema}}._gw_without_marks(f.failure ->> 'message', mark) end, 'The worker gave no reason.'),
             coalesce((f.failure ->> 'retry_at')::timestamptz,
                      {{.schema}}._gw_after_seconds(now(), (f.failure ->> 'retry_in')::double precision)),
             case when mark is null then f.failure -> 'payload'
                  else replace((f.failure -> 'payload')::text, mark, E'\\u')::json end, false,
             (f.failure ->> 'permanent')::boolean)::{{.schema}}._gw_outcome
      from json_array_elements(failures) as f (failure));
  perform {{.schema}}._gw_check_outcomes(array(select r.job_id from unnest(reported) as r), null);

  return query
  select b.id, b.state, b.run_at, b.attempts, b.max_attempts from {{.schema}}._gw_put_back(worker_id, 'failed', reported) as b;
end;
$$;

comment on function {{.schema}}.fail_job_batch(text, json) is
  'Records the failures of jobs. failures: an array of objects {id, lease, message, retry_at, retry_in (seconds), payload, permanent}, of which only id is required. Returns the new state of each job that the worker still held: id, state (ready, scheduled or failed), run_at, attempts and max_attempts.';
