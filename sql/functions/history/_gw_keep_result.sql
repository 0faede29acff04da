-- Results that a worker does not report: the values of functions that it calls in the transaction that completes their
-- jobs.

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

-- Returns whether somebody asked for the result of a job. It is volatile, because it is called after the function of
-- the user in the same statement. It is called for every job, so it sets no search_path.
create or replace function {{.schema}}._gw_wants_result(job_id bigint)
  returns boolean language plpgsql
as $$
begin
  return {{.schema}}._gw_keeps() and {{.schema}}._gw_wanted_results(array[job_id]) is not null;
end;
$$;

-- Stores the results of jobs that this transaction is about to complete; a second call replaces those of the first.
-- Locks: the jobs, by id.
create or replace function {{.schema}}._gw_keep_results(job_ids bigint[], results json[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if job_ids is not null then
    perform from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update;
    perform {{.schema}}._gw_store_results(job_ids, results);
  end if;
end;
$$;

-- Stores results that somebody asked for, of jobs that this transaction has locked and is about to complete: in
-- _gw_expected, and in settings, from which the trigger on the jobs reads those of kept tasks. They are arrays of
-- texts: reading a result by an operator of JSON raises an error if it has an escape that stands for no text, and
-- parses all of them for each. In place of a result that has more bytes than the setting max_result it stores a note:
-- the job has succeeded, and its worker may not know who asked.
create or replace function {{.schema}}._gw_store_results(job_ids bigint[], results json[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  most constant bigint := {{.schema}}.setting('max_result')::bigint;
  kept constant json[] := array(
    select case when octet_length(u.result::text) > most
                then json_build_object('gw_dropped', format('The result has %s bytes; the setting max_result allows %s.',
                                                            octet_length(u.result::text), most))
                else u.result end
      from unnest(results) with ordinality as u (result, place)
     order by u.place);
begin
  update {{.schema}}._gw_expected as e
     set result = kept[array_position(job_ids, e.job_id)]
   where e.job_id = any (job_ids) and e.ended_at is null and kept[array_position(job_ids, e.job_id)] is not null;
  perform set_config('gw.result_ids', job_ids::text, true), set_config('gw.results', kept::text, true);
end;
$$;
