-- Locks the jobs for get_job_batch in the cases that its own query does not cover: named queues, forbidden flags of single tasks, or
-- many index entries to skip. Returns the ctids of the jobs; their queues are already locked by the worker. It may search several
-- times: see _gw_search_jobs, and from the beginning of the index if nothing is behind the claim cursor.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_lock_jobs(claim {{.schema}}._gw_claim, queued boolean)
  returns tid[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  hint       text    := coalesce(current_setting('gw.claim_cursor', true), '');
  look       text    := case when hint like '{%' then '' else hint end;
  -- get_job_batch has made the first search in all other cases.
  number     integer := case when queued or hint <> '' or claim.flagged_tasks is not null then 1 else 2 end;
  cursor     bigint[];
  from_place {{.schema}}._gw_place; -- of the cursor; null: the beginning
  looked_at  timestamptz; -- when the search from the beginning began that put the cursor
  look_at    text; -- of the setting gw.claim_look_at
  search     record;
begin
  if hint like '{%' then
    if claim.batch_size > 20 and not {{.schema}}._gw_take_turn() then
      claim.batch_size := least(claim.batch_size, 500);
    end if;
    if claim.batch_size > 20 then
      perform txid_current(); -- for _gw_lockers
    end if;
    cursor := {{.schema}}._gw_claim_cursor(claim);
    from_place := {{.schema}}._gw_cursor_place(claim, cursor);
  end if;
  loop
    if cursor is not null and from_place.id is null and looked_at is null then
      looked_at := clock_timestamp();
      from_place := {{.schema}}._gw_look_at_start(claim, looked_at);
    end if;
    search := {{.schema}}._gw_search_jobs(
      claim, case when from_place.id is null then row(-32768, '-infinity', 0, null)::{{.schema}}._gw_place else from_place end, queued, number, look);
    look := search.look;
    if cursor is not null and from_place.id is null or looked_at is not null and search.beyond
       or (search.reads - (case when from_place.id is null then 1000 else 100 end)) / 4 > claim.batch_size then
      perform {{.schema}}._gw_put_claim_cursor(
        claim, from_place, case when from_place.id is null or looked_at is not null and search.beyond then coalesce(looked_at, claim.claimed_at) end,
        search.places, search.beyond);
    end if;
    exit when search.places <> '{}';
    if from_place.id is not null and looked_at is null and {{.schema}}._gw_lease(clock_timestamp()) > cursor[3] then
      from_place := null;
    elsif number = 1
          or number = 2 and search.has_queues
             and exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is null) then
      number := number + 1;
    else
      exit;
    end if;
  end loop;
  -- For the next claims of this session: which search of queues suffices; and when an empty claim will search in front of the cursor.
  look := case when queued then look else '' end;
  if look <> hint and hint not like '{%' and coalesce(current_setting('gw.claim_cursor', true), '') = hint then
    perform set_config('gw.claim_cursor', look, false);
  end if;
  look_at := case when from_place.id is not null and looked_at is null then cursor[3]::text else '' end;
  if search.places = '{}' and coalesce(current_setting('gw.claim_look_at', true), '') <> look_at then
    perform set_config('gw.claim_look_at', look_at, false);
  end if;
  return search.places;
end;
$$;

comment on function {{.schema}}._gw_lock_jobs({{.schema}}._gw_claim, boolean) is
  'Internal: locks the jobs for get_job_batch if there are named queues, forbidden flags of single tasks or many index entries to skip, and returns their ctids.';

-- Searches once. number: 1 is the ordinary search; 2 takes all that it can lock, in case others were faster in the first one, which
-- leaves out jobs and queues that look locked; 3 is for jobs without a queue only, in case the heads of queues were locked.
-- look: see _gw_front_queues. beyond: see _gw_lock_plain_jobs. reads: how much of the index of jobs without a queue it has read.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_search_jobs(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, queued boolean, number integer, inout look text,
  out places tid[], out has_queues boolean, out beyond boolean, out reads bigint)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  snapshot    txid_snapshot             := case when number = 1 then txid_current_snapshot() end;
  lockers     xid[]                     := case when number = 1 and claim.batch_size > 20 then {{.schema}}._gw_lockers(snapshot) end;
  plain       {{.schema}}._gw_place[] := array[]::{{.schema}}._gw_place[];
  queue_ids   integer[]                 := array[]::integer[];
  first_queue integer;
  front       record;
  bytes       numeric                   := 0;
  before      bigint;
begin
  places := array[]::tid[];
  reads := 0;
  beyond := false;
  if queued and number = 1 and claim.batch_size = 1 and look in ('', 'first queues') then
    first_queue := {{.schema}}._gw_lock_first_queue(claim, from_place, snapshot);
    look := case when first_queue is not null then 'first queues' else 'all queues' end;
    queue_ids := case when first_queue > 0 then array[first_queue] else '{}' end;
  end if;
  if queued and number < 3 and first_queue is null then
    if number = 1 then
      reads := {{.schema}}._gw_index_reads();
      plain := {{.schema}}._gw_plain_places(claim, from_place, snapshot, lockers);
      reads := {{.schema}}._gw_index_reads() - reads;
    end if;
    front := {{.schema}}._gw_front_queues(claim, plain, case when number = 1 then look else 'all queues' end, snapshot, lockers);
    look := front.look;
    if front.wanted > 0 then
      queue_ids := {{.schema}}._gw_lock_queues(claim, front.heads, front.wanted, case when plain = '{}' then claim.queue_batch else 1 end);
    end if;
  end if;
  has_queues := queue_ids <> '{}';
  if cardinality(queue_ids) < claim.batch_size then
    before := {{.schema}}._gw_index_reads();
    select j.places, j.bytes, j.beyond
      into places, bytes, beyond
      from {{.schema}}._gw_lock_plain_jobs(claim, from_place, claim.batch_size - cardinality(queue_ids), snapshot, lockers) as j;
    reads := greatest(reads, {{.schema}}._gw_index_reads() - before); -- both skip the same entries
  end if;
  if has_queues then
    places := {{.schema}}._gw_lock_queued_jobs(claim, queue_ids, places);
  elsif (bytes <= claim.max_bytes) is not true then
    places := {{.schema}}._gw_within_bytes(places, claim.max_bytes);
  end if;
end;
$$;

comment on function {{.schema}}._gw_search_jobs({{.schema}}._gw_claim, {{.schema}}._gw_place, boolean, integer, text) is
  'Internal: searches once for the jobs of a claim, and locks them.';
