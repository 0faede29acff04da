-- Searches for jobs of tasks without limits, locks them, and returns their ctids; their queues are already locked by the
-- worker. It may search several times: a second time for all that it can lock, in case others were faster in the first
-- one, which leaves out jobs and queues that look locked; and from the beginning of the index if nothing is behind the
-- claim cursor.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_claim_unlimited(claim {{.schema}}._gw_claim)
  returns tid[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  queue_ids  integer[] := {{.schema}}._gw_next_queues(17);
  snapshot   txid_snapshot; -- null in the second search; see _gw_may_lock
  cursor     bigint[];
  from_place {{.schema}}._gw_place; -- of the cursor; null: the beginning
  looked_at  timestamptz; -- when the search from the beginning began that put the cursor
  search     record;
begin
  if {{.schema}}._gw_session_cursor() is not null then
    if claim.batch_size > 20 and not {{.schema}}._gw_take_turn() then
      claim.batch_size := least(claim.batch_size, 500);
    end if;
    cursor := {{.schema}}._gw_claim_cursor(claim);
    if {{.schema}}._gw_lease(claim.claimed_at) < cursor[2] and claim.due <= {{.schema}}._gw_locked_at(cursor[2]) then
      from_place := {{.schema}}._gw_cursor_place(cursor);
    end if;
  end if;
  snapshot := txid_current_snapshot(); -- not before the claim has waited for its turn
  loop
    if cursor is not null and from_place.id is null and looked_at is null then
      looked_at := clock_timestamp();
      perform {{.schema}}._gw_put_claim_cursor(claim, null, looked_at, null); -- skips the entries once, for this claim, too
      from_place := {{.schema}}._gw_cursor_place({{.schema}}._gw_session_cursor());
    end if;
    search := {{.schema}}._gw_search_jobs(claim, from_place, queue_ids, snapshot);
    if cursor is not null and from_place.id is null or looked_at is not null and search.beyond
       or (search.reads - (case when from_place.id is null then 1000 else 100 end)) / 4 > claim.batch_size then
      perform {{.schema}}._gw_put_claim_cursor(
        claim, from_place, case when from_place.id is null or looked_at is not null and search.beyond then coalesce(looked_at, claim.claimed_at) end,
        (select row(j.priority, j.run_at, j.id, null)::{{.schema}}._gw_place from {{.schema}}._private_jobs as j where j.ctid = search.last),
        search.beyond);
    end if;
    exit when search.places <> '{}';
    if from_place.id is not null and looked_at is null and {{.schema}}._gw_lease(clock_timestamp()) > cursor[3] then
      from_place := null;
    elsif snapshot is not null then
      snapshot := null;
    else
      -- For next_run_at.
      perform set_config('gw.claim_cursor', (s.cursor[1:7] || case when from_place.id is not null and looked_at is null then 0
                                                                   when search.beyond then 2 else 1 end::bigint)::text, false)
         from {{.schema}}._gw_session_cursor() as s (cursor)
        where s.cursor is not null;
      return null;
    end if;
  end loop;
  return search.places;
end;
$$;

comment on function {{.schema}}._gw_claim_unlimited({{.schema}}._gw_claim) is 'Internal: searches for jobs of tasks without limits, locks them, and returns their ctids; their queues are already locked by the worker.';

-- Searches once for the jobs of a claim, without a queue and in named queues, and locks them. places: their ctids;
-- their queues are already locked by the worker. queue_ids: see _gw_front_queues. last: the last one of those without a
-- queue. beyond, reads: see _gw_plain_jobs. snapshot: see _gw_may_lock.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_search_jobs(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, queue_ids integer[], snapshot txid_snapshot,
  out places tid[], out last tid, out beyond boolean, out reads bigint)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  plain {{.schema}}._gw_place[];
  read  record;
begin
  places := array[]::tid[];
  beyond := false;
  reads := 0;
  if queue_ids <> '{}' then
    read := {{.schema}}._gw_plain_jobs(claim, from_place, claim.batch_size, false, snapshot);
    plain := read.plain;
    beyond := read.beyond;
    reads := read.reads;
    queue_ids := {{.schema}}._gw_lock_queues(claim, plain, queue_ids, snapshot);
  end if;
  loop
    if cardinality(queue_ids) < claim.batch_size and (queue_ids = '{}' or plain <> '{}') then
      read := {{.schema}}._gw_plain_jobs(claim, from_place, claim.batch_size - cardinality(queue_ids), true, snapshot);
      places := read.places;
      last := places[cardinality(places)];
      beyond := read.beyond;
      reads := greatest(reads, read.reads); -- both skip the same entries
    end if;
    if queue_ids = '{}' then
      if read.bytes > claim.max_bytes then
        places := {{.schema}}._gw_within_bytes(places, claim.max_bytes);
      end if;
      return;
    end if;
    places := {{.schema}}._gw_lock_queued_jobs(claim, queue_ids, places);
    exit when places <> '{}';
    queue_ids := '{}'; -- others have locked their first jobs
  end loop;
end;
$$;

comment on function {{.schema}}._gw_search_jobs({{.schema}}._gw_claim, {{.schema}}._gw_place, integer[], txid_snapshot) is 'Internal: searches once for the jobs of a claim, without a queue and in named queues, and locks them.';
