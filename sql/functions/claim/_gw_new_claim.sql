-- Returns the claim that the arguments of get_job_batch describe, for its parts: of the tasks without the paused ones.
-- Raises GWWID (worker id), GWWBS (batch sizes), GWWFF (forbidden flags of tasks).
create or replace function {{.schema}}._gw_new_claim(
  worker_id text, task_identifiers text[], batch_size integer, forbidden_flags text[], due timestamptz,
  task_forbidden_flags json, max_bytes integer, queue_batch integer)
  returns {{.schema}}._gw_claim language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  claim {{.schema}}._gw_claim;
begin
  perform {{.schema}}._gw_check_worker_id(worker_id);
  if (batch_size >= 1) is not true then
    raise exception 'Batch size must be at least 1, not %.', coalesce(batch_size::text, 'null') using errcode = 'GWWBS';
  elsif (queue_batch >= 1) is not true then
    raise exception 'Queue batch must be at least 1, not %.', coalesce(queue_batch::text, 'null') using errcode = 'GWWBS';
  end if;
  claim := row(worker_id, null, forbidden_flags, null, due, clock_timestamp(), least(batch_size, 1000000000), least(queue_batch, 1000), max_bytes);
  if task_identifiers is not null then
    claim.task_ids := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers) order by t.id);
  end if;
  if task_forbidden_flags is not null then
    select f.task_ids, f.task_flags into claim.task_ids, claim.task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, claim.task_ids) as f;
  end if;
  if {{.schema}}._gw_has_limits() then
    claim.task_ids := {{.schema}}._gw_served_tasks(claim);
  end if;
  return claim;
end;
$$;

-- Returns whether there are limits or pauses.
create or replace function {{.schema}}._gw_has_limits()
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  -- The table has no page before the first one.
  return pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0
         and (select exists (select from {{.schema}}._gw_limits) or exists (select from {{.schema}}._gw_pauses));
end;
$$;

-- Returns the tasks whose jobs a claim may take: those that it is for, without the paused ones. The result is never
-- null.
create or replace function {{.schema}}._gw_served_tasks(claim {{.schema}}._gw_claim)
  returns integer[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  everything boolean;
  paused     integer[];
begin
  select coalesce(bool_or(p.task is null and p.queue_name is null and p.limit_name is null), false),
         array_agg((select t.id from {{.schema}}._private_tasks as t where t.identifier = p.task)) filter (where p.task is not null)
    into everything, paused
    from {{.schema}}._gw_pauses as p
   where (p.until <= claim.claimed_at) is not true;
  if everything then
    return array[]::integer[];
  end if;
  claim.task_ids := coalesce(claim.task_ids, array(select t.id from {{.schema}}._private_tasks as t order by t.id));
  if paused is not null then
    claim.task_ids := array(select t.id from unnest(claim.task_ids) as t (id) where (t.id = any (paused)) is not true);
  end if;
  return claim.task_ids;
end;
$$;
