-- Deletes rows of deleted jobs from a side table, and returns their number: contexts, steps or progress. It reads at
-- most a given number of rows per call. Each call continues where the previous one of any session ended, from the last
-- row to the first, so that rows of jobs that wait for a long time are not read each time. A sequence of the column
-- job_id contains where. Ids are never reused, so a row without a job never gets one later. At REPEATABLE READ a row
-- that another transaction has just deleted would raise an error, so there the function does nothing.
-- Locks: the rows that it deletes; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_drop_spent_rows(side regclass, most bigint)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  place     regclass := pg_get_serial_sequence(side::text, 'job_id');
  seen_last bigint := coalesce(pg_sequence_last_value(place), 0);
  seen      bigint[];
  dropped   bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  execute format('select array(select s.job_id from %s as s where s.job_id > $1 order by s.job_id limit $2)', side)
     into seen using seen_last, most;
  if cardinality(seen) < most then
    execute format('select $1 || array(select s.job_id from %s as s where s.job_id <= $2 order by s.job_id limit $3)', side)
       into seen using seen, seen_last, most - cardinality(seen);
  end if;
  if seen = '{}' then
    return 0;
  end if;
  perform setval(place, seen[cardinality(seen)]);
  execute format($sql$
    delete from %1$s as s
     where s.ctid = any (array(
             select l.ctid
               from %1$s as l
              where l.job_id = any ($1)
                and not exists (select from %2$s as j where j.id = l.job_id)
                for update skip locked))
  $sql$, side, '{{ replace "'" "''" .schema }}._private_jobs'::regclass) using seen;
  get diagnostics dropped = row_count;
  return dropped;
end;
$$;

-- Trigger: deletes old contexts at times when new ones are stored. Reading four contexts for each new one limits the
-- table to about twice the contexts that are needed: during one pass over all of them, a quarter as many are added. If
-- there are contexts but no jobs, a dump of the extension is being restored, whose triggers exist before the data; then
-- nothing is deleted.
create or replace function {{.schema}}._gw_contexts_put()
  returns trigger language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  added  bigint;
  newest bigint;
begin
  select count(*), max(p.job_id) into added, newest from put as p;
  if random() < added / 64.0 and exists (select from {{.schema}}._private_jobs as j where j.id = newest) then
    begin
      perform {{.schema}}._gw_drop_spent_rows('{{ replace "'" "''" .schema }}._gw_job_context', 4 * greatest(added, 64));
    exception when others then -- producers do not depend on it; tidy() records its errors
      null;
    end;
  end if;
  return null;
end;
$$;
