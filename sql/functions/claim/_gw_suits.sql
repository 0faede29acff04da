-- Returns whether a waiting job is due and a worker may take it. The function is a single expression, so the claims
-- inline it. task_flags: see _gw_task_flags.
create or replace function {{.schema}}._gw_suits(
  run_at timestamptz, task_id integer, flags jsonb, due timestamptz, task_ids integer[], forbidden_flags text[],
  task_flags jsonb default null)
  returns boolean language sql stable
as $$
  select run_at operator(pg_catalog.<=) due
         and (task_id operator(pg_catalog.=) any (task_ids)) is not false
         and (flags operator(pg_catalog.?|) forbidden_flags) is not true
         and (task_flags is null or flags is null
              or (flags operator(pg_catalog.?|) (task_flags operator(pg_catalog.->>) task_id::pg_catalog.text)::pg_catalog.text[]) is not true)
$$;

-- The same for what a claim is for.
create or replace function {{.schema}}._gw_suits_claim(
  run_at timestamptz, task_id integer, flags jsonb, claim {{.schema}}._gw_claim)
  returns boolean language sql stable
as $$
  select {{.schema}}._gw_suits(run_at, task_id, flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.task_flags)
$$;

-- Returns the first jobs of a queue that a claim may take. The function sets no search_path, so that PostgreSQL inlines
-- it.
create or replace function {{.schema}}._gw_first_in_queue(queue_id integer, claim {{.schema}}._gw_claim, most integer)
  returns table (
    place tid, version xid, locker xid, priority smallint, run_at timestamptz, id bigint, task_id integer, payload json,
    flags jsonb, key text, last_error text) language sql stable
as $$
  select j.ctid, j.xmin, j.xmax, j.priority, j.run_at, j.id, j.task_id, j.payload, j.flags, j.key, j.last_error
    from {{.schema}}._private_jobs as j
   where j.is_available and j.job_queue_id operator(pg_catalog.=) queue_id
     and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
   order by j.priority, j.run_at, j.id
   limit most
$$;
