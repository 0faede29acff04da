-- Deletes contexts of deleted jobs and returns their number. It reads at most a given number of contexts per call. Each
-- call continues where the previous one of any session ended, from the last context to the first, so that contexts of
-- jobs that wait for a long time are not read each time.
-- Ids are never reused, so a context without a job never gets one later. At REPEATABLE READ a row that another
-- transaction has just deleted would raise an error, so there the function does nothing.
-- Locks: the rows that it deletes; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_drop_spent_contexts(
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
  seen_last bigint := coalesce(pg_sequence_last_value('{{ replace "'" "''" .schema }}._gw_job_context_cursor'), 0);
  seen      bigint[];
  dropped   bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  seen := array(
    select c.job_id
      from {{.schema}}._gw_job_context as c
     where c.job_id > seen_last
     order by c.job_id
     limit most);
  if cardinality(seen) < most then
    seen := seen || array(
      select c.job_id
        from {{.schema}}._gw_job_context as c
       where c.job_id <= seen_last
       order by c.job_id
       limit most - cardinality(seen));
  end if;
  perform setval('{{ replace "'" "''" .schema }}._gw_job_context_cursor', seen[cardinality(seen)]);
  delete from {{.schema}}._gw_job_context as c
   using (select l.job_id
            from {{.schema}}._gw_job_context as l
           where l.job_id = any (seen)
             and not exists (select from {{.schema}}._private_jobs as j where j.id = l.job_id)
             for update skip locked) as spent
   where c.job_id = spent.job_id;
  get diagnostics dropped = row_count;
  return dropped;
end;
$$;

comment on function {{.schema}}._gw_drop_spent_contexts(bigint) is
  'Internal: deletes contexts of deleted jobs, reading at most this many, from where the last call ended. Returns their number.';

-- Trigger: deletes old contexts when new ones are stored. Reading four contexts for each new one limits the table to
-- twice the contexts that are needed: during one pass over all of them, a quarter as many are added. If there are
-- contexts but no jobs, a dump of the extension is being restored, whose triggers exist before the data; then nothing
-- is deleted.
create or replace function {{.schema}}._gw_contexts_put()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from {{.schema}}._private_jobs as j where j.id = (select max(p.job_id) from put as p)) then
    perform {{.schema}}._gw_drop_spent_contexts(4 * (select count(*) from put));
  end if;
  return null;
end;
$$;

comment on function {{.schema}}._gw_contexts_put() is
  'Trigger on _gw_job_context: deletes contexts of deleted jobs when new ones are stored.';
