-- Deletes steps of deleted jobs and returns their number. It reads at most a given number of steps per call. Each call
-- continues where the previous one of any session ended, as _gw_drop_spent_contexts does. Ids are never reused, so steps
-- without a job never get one later. At REPEATABLE READ a row that another transaction has just deleted would raise an
-- error, so there the function does nothing.
-- Locks: the rows that it deletes; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_drop_spent_steps(
  most bigint
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set jit = off
as $$
declare
  seen_last bigint := coalesce(pg_sequence_last_value('{{ replace "'" "''" .schema }}._gw_step_cursor'), 0);
  seen      bigint[];
  dropped   bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  seen := array(
    select s.job_id
      from {{.schema}}._gw_steps as s
     where s.job_id > seen_last
     order by s.job_id
     limit most);
  if cardinality(seen) < most then
    seen := seen || array(
      select s.job_id
        from {{.schema}}._gw_steps as s
       where s.job_id <= seen_last
       order by s.job_id
       limit most - cardinality(seen));
  end if;
  if seen = '{}' then
    return 0;
  end if;
  perform setval('{{ replace "'" "''" .schema }}._gw_step_cursor', seen[cardinality(seen)]);
  delete from {{.schema}}._gw_steps as s
   where (s.job_id, s.name) in (
           select l.job_id, l.name
             from {{.schema}}._gw_steps as l
            where l.job_id = any (seen)
              and not exists (select from {{.schema}}._private_jobs as j where j.id = l.job_id)
              for update skip locked);
  get diagnostics dropped = row_count;
  return dropped;
end;
$$;

comment on function {{.schema}}._gw_drop_spent_steps(bigint) is
  'Internal: deletes steps of deleted jobs, reading at most this many, from where the last call ended. Returns their number.';

-- Deletes the progress of deleted jobs in the same way.
create or replace function {{.schema}}._gw_drop_spent_progress(
  most bigint
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set jit = off
as $$
declare
  seen_last bigint := coalesce(pg_sequence_last_value('{{ replace "'" "''" .schema }}._gw_progress_cursor'), 0);
  seen      bigint[];
  dropped   bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  seen := array(
    select p.job_id
      from {{.schema}}._gw_progress as p
     where p.job_id > seen_last
     order by p.job_id
     limit most);
  if cardinality(seen) < most then
    seen := seen || array(
      select p.job_id
        from {{.schema}}._gw_progress as p
       where p.job_id <= seen_last
       order by p.job_id
       limit most - cardinality(seen));
  end if;
  if seen = '{}' then
    return 0;
  end if;
  perform setval('{{ replace "'" "''" .schema }}._gw_progress_cursor', seen[cardinality(seen)]);
  delete from {{.schema}}._gw_progress as p
   where p.job_id in (
           select l.job_id
             from {{.schema}}._gw_progress as l
            where l.job_id = any (seen)
              and not exists (select from {{.schema}}._private_jobs as j where j.id = l.job_id)
              for update skip locked);
  get diagnostics dropped = row_count;
  return dropped;
end;
$$;

comment on function {{.schema}}._gw_drop_spent_progress(bigint) is
  'Internal: deletes the progress of deleted jobs, reading at most this many rows, from where the last call ended. Returns their number.';
