-- The indexes of the jobs that differ between a queue with Node workers and one without. Node workers read
-- jobs_main_index; our claims do not. Graphile Worker's own add_job needs a unique index of all keys. Each claim and
-- completion of a job without a key writes to that index, too, among equal entries. Our functions also accept an index of
-- the keys that are not null.

-- Returns the statements that give the jobs the indexes for Node workers, or those for a queue without; no row if they
-- have them. Constraints and indexes are found by what they are, because an adopted schema may have others' names.
create or replace function {{.schema}}._gw_tune_steps(
  for_node boolean
)
  returns setof text
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  jobs      constant text := '{{ replace "'" "''" .schema }}._private_jobs';
  all_keys  text[]; -- statements that drop the unique indexes of all keys
  has_main  boolean;
  has_ours  boolean;
  invalid   text[]; -- the same for indexes that create index concurrently, run by hand, has left
begin
  select array_agg(case when k.conname is not null then format('alter table %s drop constraint %I', jobs, k.conname)
                        else format('drop index %s', i.indexrelid::regclass) end)
           filter (where a.attname = 'key' and i.indisunique and i.indnatts = 1 and i.indpred is null and i.indisvalid),
         coalesce(bool_or(x.relname = 'jobs_main_index' and i.indisvalid), false),
         coalesce(bool_or(x.relname = '_gw_jobs_key' and i.indisvalid), false),
         array_agg(format('drop index %s', i.indexrelid::regclass))
           filter (where not i.indisvalid and x.relname in ('jobs_main_index', '_gw_jobs_key', 'jobs_key_key1'))
    into all_keys, has_main, has_ours, invalid
    from pg_index as i
    join pg_class as x on x.oid = i.indexrelid
    left join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    left join pg_constraint as k on k.conindid = i.indexrelid and k.contype = 'u'
   where i.indrelid = jobs::regclass;

  return query select d.command from unnest(invalid) as d (command);

  if for_node then
    if all_keys is null then
      return next format('alter table %s add constraint jobs_key_key1 unique (key)%s', jobs, -- see migration 5
                         case when current_setting('server_version_num')::integer >= 130000 then ' with (deduplicate_items = off)' end);
    end if;
    if not has_main then
      return next format('create index jobs_main_index on %s (priority, run_at) include (id, task_id, job_queue_id) '
                         'where is_available = true', jobs);
    end if;
    if has_ours then
      return next format('drop index %s._gw_jobs_key', {{.schema}}._gw_namespace());
    end if;
  else
    if not has_ours then
      return next format('create unique index _gw_jobs_key on %s (key) where key is not null', jobs);
      return next format('comment on index %s._gw_jobs_key is ''The keys of jobs, in place of an index of all keys.''',
                         {{.schema}}._gw_namespace());
    end if;
    return query select d.command from unnest(all_keys) as d (command);
    if has_main then
      return next format('drop index %s.jobs_main_index', {{.schema}}._gw_namespace());
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_tune_steps(boolean) is
  'Internal, for gw-migrate tune: returns the statements that give the jobs the indexes for Node workers, or those for a queue without; no row if they have them.';

-- Gives the jobs these indexes, and returns whether they had others. The caller must be the owner. It can be called again
-- after any failure, and after indexes were changed by hand.
-- Locks: the jobs table, access exclusive, until the transaction ends; it builds the indexes under this lock.
-- Raises GWNWS (for_node is false, and Node workers were seen).
create or replace function {{.schema}}._gw_tune(
  for_node boolean
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  command text;
  seen    text;
begin
  if not exists (select from {{.schema}}._gw_tune_steps(for_node)) then
    return false;
  end if;
  if not for_node then
    select string_agg(format('%s %s', n.worker, n.detail), '; ') into seen from {{.schema}}._gw_node_workers() as n;
    if seen is not null then
      raise exception 'Node workers use this queue: %.', seen
        using errcode = 'GWNWS',
              hint = 'Stop them first. If one is dead, free its jobs with force_unlock_workers.';
    end if;
  end if;

  lock table {{.schema}}._private_jobs in access exclusive mode;
  foreach command in array array(select s.step from {{.schema}}._gw_tune_steps(for_node) as s (step)) loop
    execute command;
  end loop;
  return true;
end;
$$;

comment on function {{.schema}}._gw_tune(boolean) is
  'Internal, for gw-migrate tune: gives the jobs the indexes that Node workers need, or those of a queue without Node workers, and returns whether anything has changed.';
