-- Results that a worker does not report: the values of functions that it calls in the transaction that completes their jobs.

-- Returns for each of these jobs whether somebody asked for its result, null if nobody asked for any.
create or replace function {{.schema}}._gw_wanted_results(job_ids bigint[])
  returns boolean[] language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  wanted constant boolean[] := array(
    select exists (select from {{.schema}}._gw_expected as e where e.job_id = u.id and e.ended_at is null)
           or exists (select
                        from {{.schema}}._private_jobs as j
                        join {{.schema}}._private_tasks as t on t.id = j.task_id
                        join {{.schema}}._gw_kept_tasks as k on k.task = t.identifier
                       where j.id = u.id and k.results)
      from unnest(job_ids) with ordinality as u (id, place)
     order by u.place);
begin
  return case when true = any (wanted) then wanted end;
end;
$$;

comment on function {{.schema}}._gw_wanted_results(bigint[]) is
  'Internal: returns for each of these jobs whether somebody asked for its result, null if nobody asked for any.';

-- Returns whether somebody asked for the result of a job. It is volatile, because it is called after the function of the user
-- in the same statement. It is called for every job, so it sets no search_path.
create or replace function {{.schema}}._gw_wants_result(job_id bigint)
  returns boolean language plpgsql
as $$
begin
  return {{.schema}}._gw_keeps() and {{.schema}}._gw_wanted_results(array[job_id]) is not null;
end;
$$;

comment on function {{.schema}}._gw_wants_result(bigint) is
  'Internal, for workers: returns whether somebody asked for the result of a job.';

-- Stores the result of a job that this transaction is about to complete: several jobs may have one.
-- Locks: the job.
-- Raises GWWRS if it has more bytes than the setting max_result.
create or replace function {{.schema}}._gw_keep_result(job_id bigint, result json)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  earlier constant text := nullif(current_setting('gw.results', true), '');
begin
  perform from {{.schema}}._private_jobs as j where j.id = job_id for update;
  perform {{.schema}}._gw_store_results(array[job_id], array[result]);
  if earlier is not null then
    perform set_config('gw.results', left(earlier, -1) || ', ' || substr(current_setting('gw.results'), 2), true);
  end if;
end;
$$;

comment on function {{.schema}}._gw_keep_result(bigint, json) is
  'Internal, for workers: stores the result of a job that this transaction is about to complete.';

-- Stores results that somebody asked for, of jobs that this transaction has locked and is about to complete: in _gw_expected, and
-- in the setting gw.results, from which the trigger on the jobs reads those of kept tasks.
-- Raises GWWRS if one of the results has more bytes than the setting max_result.
create or replace function {{.schema}}._gw_store_results(job_ids bigint[], results json[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  most    constant bigint := {{.schema}}.setting('max_result')::bigint;
  largest record;
begin
  select u.id, octet_length(u.result::text) as bytes
    into largest
    from unnest(job_ids, results) as u (id, result)
   where u.result is not null
   order by 2 desc
   limit 1;
  if largest.bytes > most then
    raise exception 'The result of job % has % bytes; the setting max_result allows %.', largest.id, largest.bytes, most
      using errcode = 'GWWRS', hint = 'Store large data elsewhere and report a reference.';
  end if;
  update {{.schema}}._gw_expected as e
     set result = u.result
    from unnest(job_ids, results) as u (id, result)
   where e.job_id = u.id and e.ended_at is null and u.result is not null;
  perform set_config('gw.results', coalesce((select json_object_agg(u.id, u.result)::text
                                               from unnest(job_ids, results) as u (id, result)
                                              where u.result is not null), ''), true);
end;
$$;

comment on function {{.schema}}._gw_store_results(bigint[], json[]) is
  'Internal: stores results that somebody asked for, of jobs that this transaction is about to complete.';
