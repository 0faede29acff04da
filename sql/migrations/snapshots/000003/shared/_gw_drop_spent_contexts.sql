-- Removes contexts of jobs that are gone, among as many as it may look at, and returns how many. Each call goes on
-- where the last one ended, whoever made it, and from the last context to the first, so that those of jobs that wait
-- for long do not stand in the way.
-- An id never comes back, so what has no job now has none later. At REPEATABLE READ a row that somebody else has just
-- removed would be an error, so there it does nothing.
-- Locks: the rows that it removes, passing by those that somebody else has locked.
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
  'Internal: removes contexts of jobs that are gone, among as many as it may look at, from where the last call ended. Returns how many.';

-- Trigger: contexts were put, so others go. To look at four for each new one keeps the table below twice the contexts
-- that are needed: while a round looks at all of them, a quarter as many come. Contexts without their jobs are being
-- restored from a dump of the extension, whose triggers are there before the data: then nothing goes.
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
  'Trigger on _gw_job_context: removes contexts of jobs that are gone as new ones come.';
