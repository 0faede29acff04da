-- Adds many jobs in one call, as if each spec were added in order. Returns one row per spec, in the order of the specs;
-- if two specs share a row, both results show its final state. job_key_preserve_run_at applies the mode preserve_run_at
-- of add_job to all keys. An empty array does nothing.
-- Locks: name locks in sorted order, then new keys in sorted order, then rows that are waiting under one of the keys,
-- without waiting for any of them (see _gw_add_keyed_jobs). So calls with the same names and keys in a different order
-- wait for each other but do not deadlock.
-- Raises what add_job raises; the detail names the spec.
create or replace function {{.schema}}.add_jobs(
  specs                   {{.schema}}.job_spec[],
  job_key_preserve_run_at boolean default false
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set jit = off
as $$
declare
  may_be_refused  boolean;
  is_ordinary boolean;
  identifiers text[];
  queue_names text[];
  job_keys    text[];
  incoming    text[]; -- see _gw_incoming
  first_task  integer;
begin
  if coalesce(cardinality(specs), 0) = 0 then
    return;
  end if;
  if array_ndims(specs) > 1 or array_lower(specs, 1) <> 1 then
    specs := array(select s from unnest(specs) as s);
  end if;

  -- Ordinary specs are all of one task, without queue and key. Only other specs need their names collected and sorted.
  identifiers := array[specs[1].identifier];
  select bool_or({{.schema}}._gw_job_is_refused(
                   s.identifier, s.queue_name, s.max_attempts, s.job_key, s.priority, s.flags)
                 or pg_column_size(s.payload) > 2000),
         bool_and(s.identifier = (select identifiers[1]) and s.queue_name is null and s.job_key is null)
    into may_be_refused, is_ordinary
    from unnest(specs) as s;
  if may_be_refused then
    perform {{.schema}}._gw_check_specs(specs);
  end if;
  if not is_ordinary then
    select array_agg(distinct s.identifier),
           array_agg(distinct s.queue_name) filter (where s.queue_name is not null),
           array_agg(distinct s.job_key) filter (where s.job_key is not null)
      into identifiers, queue_names, job_keys
      from unnest(specs) as s;
  end if;
  perform {{.schema}}._gw_hold_names(identifiers, queue_names);
  perform {{.schema}}._gw_make_names(identifiers, queue_names);

  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0 then
    incoming := {{.schema}}._gw_incoming(identifiers);
  end if;

  if job_keys is null then
    if cardinality(identifiers) = 1 then
      select t.id into first_task from {{.schema}}._private_tasks as t where t.identifier = identifiers[1];
    end if;
    return query
    insert into {{.schema}}._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select case when s.queue_name is not null then
             (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = s.queue_name)
                when s.identifier = any (incoming) then -1 -- a claim looks for the limits of the job
           end,
           case when first_task is not null then first_task
                else (select t.id from {{.schema}}._private_tasks as t where t.identifier = s.identifier)
           end,
           coalesce(s.payload, '{}'), coalesce(s.run_at, now()), coalesce(s.max_attempts, 25), coalesce(s.priority, 0),
           case when s.flags is not null then {{.schema}}._gw_flags(s.flags) end
      from unnest(specs) as s -- unnest returns them in order; sorting by number would add about 3 % to the call
    returning *;
  else
    return query
    select a.*
      from {{.schema}}._gw_add_keyed_jobs(
             specs, job_keys, case when job_key_preserve_run_at then 'preserve_run_at' else 'replace' end, incoming) as a;
  end if;

  perform {{.schema}}._gw_wake(cardinality(specs));
end;
$$;

comment on function {{.schema}}.add_jobs({{.schema}}.job_spec[], boolean) is
  'Adds many jobs in one call and returns one row per spec, in the order of the specs. Each spec takes what add_job takes; job_key_preserve_run_at keeps the first run_at of every waiting job that is replaced by its key.';

-- Raises for the first of the specs that is refused, else for the first whose payload is too large; see
-- _gw_check_payload.
create or replace function {{.schema}}._gw_check_specs(specs {{.schema}}.job_spec[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_refuse_job(s.identifier, s.queue_name, s.max_attempts, s.job_key, s.priority, s.flags, s.number)
     from unnest(specs) with ordinality
       as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
    where {{.schema}}._gw_job_is_refused(s.identifier, s.queue_name, s.max_attempts, s.job_key, s.priority, s.flags);
  perform {{.schema}}._gw_check_payload(s.payload, s.number)
     from unnest(specs) with ordinality
       as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
    where pg_column_size(s.payload) > 2000;
end;
$$;
