-- Returns the named queues whose head jobs belong in the next batch, in the order of those heads, and how many of them
-- to take. The list has spare queues, because other claims may lock some of them. The function only reads.
-- Jobs with and without a queue share one order: plain are the places of the first jobs without a queue. If there is none, queue_batch
-- jobs of a queue count for the batch, so a search that has found enough jobs of few queues suffices. Otherwise the batch has the
-- heads, as all of them may come before those jobs.
-- hint, look: the kind of search that sufficed last time and this time. Most of the cost of claiming queued jobs is preparing the
-- statements, and usually a short search suffices: 'first queues' reads the first queued jobs, 'few queues' each queue if there are
-- at most 16. snapshot, lockers: see _gw_may_lock.
create or replace function {{.schema}}._gw_front_queues(
  claim {{.schema}}._gw_claim, plain {{.schema}}._gw_place[], hint text, snapshot txid_snapshot, lockers xid[],
  out heads {{.schema}}._gw_place[], out wanted integer, out look text)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  jobs_each integer           := case when plain = '{}' then claim.queue_batch else 1 end;
  before    {{.schema}}._gw_place := coalesce(plain[claim.batch_size], row(32767, 'infinity', 9223372036854775807, null)::{{.schema}}._gw_place);
  is_known  boolean               := false;
begin
  if hint in ('', 'first queues') then
    look := 'first queues';
    select s.heads, s.is_complete into heads, is_known from {{.schema}}._gw_walk_queues(claim, before, jobs_each, snapshot, lockers) as s;
  elsif hint = 'few queues' then
    look := 'few queues';
    select s.heads, s.is_complete into heads, is_known from {{.schema}}._gw_step_queues(claim, 16, snapshot, lockers) as s;
  end if;
  if not is_known then
    look := case when claim.task_ids is null
                      or exists (select from (select j.task_id
                                                from {{.schema}}._private_jobs as j
                                               where j.is_available and j.job_queue_id > 0
                                               order by j.priority, j.run_at, j.id
                                               limit 16) as f
                                  where f.task_id = any (claim.task_ids)) then 'first queues'
                 else 'all queues' end; -- the others do not suffice
    if claim.task_ids is not null then
      select s.heads, s.is_complete into heads, is_known from {{.schema}}._gw_walk_tasks(claim, before, jobs_each, snapshot, lockers) as s;
    end if;
  end if;
  if not is_known and hint <> 'few queues' then
    look := 'few queues';
    select s.heads, s.is_complete into heads, is_known from {{.schema}}._gw_step_queues(claim, 16, snapshot, lockers) as s;
  end if;
  if not is_known then
    look := 'first queues';
    select s.heads, s.is_complete into heads, is_known from {{.schema}}._gw_step_queues(claim, 2147483647, snapshot, lockers) as s;
  end if;

  heads := coalesce(heads, '{}');
  wanted := least(cardinality(heads), claim.batch_size);
  if plain <> '{}' and wanted > 0 then
    select count(*) filter (where r.rank <= claim.batch_size and r.queue_id is not null)
      into wanted
      from (select p.queue_id, row_number() over (order by p.priority, p.run_at, p.id) as rank from unnest(heads || plain) as p) as r;
  end if;
end;
$$;

comment on function {{.schema}}._gw_front_queues({{.schema}}._gw_claim, {{.schema}}._gw_place[], text, txid_snapshot, xid[]) is
  'Internal: returns the named queues whose head jobs belong in the next batch, and how many of them to take.';

-- Returns the named queues whose head jobs suit a claim in a schema with limits, in the order of those heads. It only reads.
create or replace function {{.schema}}._gw_first_queues(claim {{.schema}}._gw_claim)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  claim.queue_batch := 1;
  return array(
    select h.queue_id
      from {{.schema}}._gw_front_queues(claim, '{}', 'first queues', txid_current_snapshot(), null) as f
     cross join unnest(f.heads) with ordinality as h (priority, run_at, id, queue_id, place)
     order by h.place);
end;
$$;

comment on function {{.schema}}._gw_first_queues({{.schema}}._gw_claim) is
  'Internal: returns the named queues whose head jobs suit a claim, in the order of those heads.';
