-- Locks the jobs for get_job_batch in the cases that its own query does not cover: named queues, suspects, forbidden
-- flags of single tasks, or many index entries to skip. Returns the ctids of the jobs; their queues are already locked
-- by the worker.
-- While there are limits, _gw_lock_limited_jobs calls it: then no jobs in the named queues of moving_queues are returned, and the
-- batch is chosen from limited, too, which are the ctids of locked jobs.
-- The function takes priorities one by one, so it does not read past future jobs of a more urgent priority. The claim
-- cursor skips the other entries that every claim would have to read.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_lock_jobs(
  claim  {{.schema}}._gw_claim,
  queued boolean
)
  returns tid[]
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
#variable_conflict use_column
declare
  hint          text        := coalesce(current_setting('gw.claim_cursor', true), '');
  look          text        := hint;
  cursor        bigint[];
  from_cursor   boolean     := false;
  looked        boolean     := false; -- the cursor was set by a search from the beginning, in this call
  look_at       text; -- of the setting gw.claim_look_at
  from_place    {{.schema}}._gw_place := row(-32768, '-infinity', 0);
  queues_only   boolean     := false;
  plain_only    boolean     := false;
  skips_held    boolean; -- see _gw_is_free
  snapshot      txid_snapshot;
  lockers       xid[];
  first_queue   integer;
  plain_first   boolean;
  front         record;
  queue_ids     integer[];
  places        tid[];
  bytes         numeric; -- of the payloads at places, at most; null: not known
  most_steps    constant integer := 500; -- from priority to priority; after these the search reads each job
  room          integer;
  beyond        smallint; -- the last of these priorities
  looked_at     timestamptz := claim.claimed_at;
  reads         bigint;
  front_reads   bigint;
begin
  if hint like '{%' then
    look := '';
    if claim.batch_size > 20 and not {{.schema}}._gw_take_turn() then
      claim.batch_size := least(claim.batch_size, 500);
    end if;
    if claim.batch_size > 20 then
      perform txid_current(); -- for _gw_lockers
    end if;
    cursor := {{.schema}}._gw_claim_cursor(claim);
    if {{.schema}}._gw_lease(claim.claimed_at) < cursor[2] and claim.due <= {{.schema}}._gw_locked_at(cursor[2]) then
      from_cursor := true;
      from_place := {{.schema}}._gw_cursor_place(cursor);
    end if;
  end if;
  -- In all other cases get_job_batch has searched before.
  skips_held := queued or hint <> '' or claim.flagged_tasks is not null;
  loop
    if cursor is not null and not from_cursor and not looked then
      -- The search from the beginning. Setting the cursor first skips the entries once, for the claim and for the cursor.
      looked := true;
      looked_at := clock_timestamp();
      perform {{.schema}}._gw_put_claim_cursor(claim, null, looked_at, null);
      from_cursor := current_setting('gw.claim_cursor', true) <> ''; -- otherwise a job is in front of these entries
      if from_cursor then
        cursor := current_setting('gw.claim_cursor')::bigint[];
        perform set_config('gw.claim_looked', array[
          {{.schema}}._gw_cursor_scope(row(null, claim.task_ids, null, null, null, null, null, null, null, null)::{{.schema}}._gw_claim), {{.schema}}._gw_lease(statement_timestamp()),
          cursor[4], cursor[5], cursor[6]]::text, true);
      end if;
      from_place := case when from_cursor then {{.schema}}._gw_cursor_place(cursor) else row(-32768, '-infinity', 0)::{{.schema}}._gw_place end;
    end if;
    plain_first := false;
    beyond := null;
    bytes := 0;
    snapshot := txid_current_snapshot();
    if claim.batch_size > 20 then
      lockers := {{.schema}}._gw_lockers(snapshot);
    end if;
    reads := {{.schema}}._gw_index_reads();
    queue_ids := null;
    front_reads := null;
    if queued and not plain_only then
      first_queue := null;
      if claim.batch_size = 1 and look in ('', 'first queues') and not queues_only then
        first_queue := {{.schema}}._gw_lock_first_queue(claim, from_place);
        look := case when first_queue is not null then 'first queues' else 'few queues' end;
        plain_first := first_queue = 0;
        if first_queue > 0 then
          queue_ids := array[first_queue];
        end if;
      end if;
      if first_queue is null then
        front := {{.schema}}._gw_front_queues(claim, from_place, queues_only, look);
        look := front.look;
        plain_first := front.plain_first;
        if front.wanted > 0 then
          -- No more queues than have enough jobs for the batch.
          queue_ids := array(
            select e.id
              from (select h.id, h.place
                      from (select l.id, f.place
                              from (select f.id, f.place from unnest(front.queue_ids) with ordinality as f (id, place) order by f.place) as f
                             cross join lateral (
                                    select q.id
                                      from {{.schema}}._private_job_queues as q
                                     where q.id = f.id and q.locked_at is null
                                       for no key update skip locked) as l
                             limit front.wanted) as h
                     cross join lateral (
                            select where claim.queue_batch = 1 or not front.fills
                            union all
                            (select from {{.schema}}._private_jobs as j
                              where claim.queue_batch > 1 and front.fills and j.is_available and j.job_queue_id = h.id
                                and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
                              limit claim.queue_batch)) as j
                     limit claim.batch_size) as e
             group by e.id, e.place
             order by e.place);
        end if;
      end if;
      front_reads := {{.schema}}._gw_index_reads() - reads;
      reads := reads + front_reads;
    end if;

    if plain_first then
      places := array(
        select j.ctid
          from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id is null
           and (j.priority, j.run_at, j.id) >= (from_place.priority, from_place.run_at, from_place.id)
           and (not skips_held or j.xmax = '0' or case when lockers is not null then not j.xmax = any (lockers) else {{.schema}}._gw_is_free(j.xmax, snapshot) end)
           and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
         order by j.priority, j.run_at, j.id
         limit 1
           for update skip locked);
    elsif (cardinality(queue_ids) = claim.batch_size) is not true then
      room := claim.batch_size - coalesce(cardinality(queue_ids), 0);
      with recursive priorities (priority, run_at, id, number) as (
        (select j.priority, j.run_at, j.id, 1
           from {{.schema}}._private_jobs as j
          where j.is_available and j.job_queue_id is null
            and (j.priority, j.run_at, j.id) >= (from_place.priority, from_place.run_at, from_place.id)
          order by j.priority, j.run_at, j.id
          limit 1)
        union all
        select n.priority, n.run_at, n.id, p.number + 1
          from priorities as p
         cross join lateral (
                select j.priority, j.run_at, j.id
                  from {{.schema}}._private_jobs as j
                 where j.is_available and j.job_queue_id is null and j.priority > p.priority
                 order by j.priority, j.run_at, j.id
                 limit 1) as n
         where p.number < most_steps
      )
      select coalesce(l.places, '{}'), l.bytes,
             case when (cardinality(l.places) = room) is not true then
               (select p.priority from priorities as p where p.number = most_steps)
             end
        into places, bytes, beyond
        from (select array_agg(l.ctid) as places, sum(l.bytes) as bytes
                from (select l.ctid, l.bytes
                         from priorities as p
                        cross join lateral (
                              select j.ctid,
                                     case when claim.batch_size = 1 then 0 else {{.schema}}._gw_most_bytes(j.payload) end as bytes
                                from {{.schema}}._private_jobs as j
                               where j.is_available and j.job_queue_id is null
                                 and j.priority = p.priority and j.run_at >= p.run_at and (j.run_at, j.id) >= (p.run_at, p.id)
                                                       and (not skips_held or j.xmax = '0' or case when lockers is not null then not j.xmax = any (lockers) else {{.schema}}._gw_is_free(j.xmax, snapshot) end)
                                 and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
                               order by j.run_at, j.id
                               limit room
                                 for update skip locked) as l
                        limit room) as l
              offset 0) as l;
      if beyond is not null then
        bytes := null;
        places := places || array(
          select j.ctid
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id is null and j.priority > beyond
               and (not skips_held or j.xmax = '0' or case when lockers is not null then not j.xmax = any (lockers) else {{.schema}}._gw_is_free(j.xmax, snapshot) end)
             and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
           order by j.priority, j.run_at, j.id
           limit room - cardinality(places)
             for update skip locked);
      end if;
    end if;

    -- The queues were locked by an earlier statement, so this one sees what the last holder of each queue committed. If
    -- a transaction changes or has just changed a job (xmin; not all versions check the ctid again), the claim takes neither
    -- this job nor the ones after it in the queue: the next job must not overtake it, and the job may now be claim.due later or be in
    -- another queue. A job that is only taken as the first one ends them in the same way.
    -- The first jobs of the queues come before the others.
    if queue_ids is not null then
      with chosen as materialized (
        select c.job_queue_id, c.ctid, c.xmin, c.number, c.follows
          from (select q.place, n.*, row_number() over (partition by q.place order by n.priority, n.run_at, n.id) as number
                  from unnest(queue_ids) with ordinality as q (id, place)
                 cross join lateral (
                        select j.job_queue_id, j.ctid, j.xmin, j.priority, j.run_at, j.id, j.key is null and j.last_error is null as follows
                          from {{.schema}}._private_jobs as j
                         where j.is_available and j.job_queue_id = q.id
                           and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
                         order by j.priority, j.run_at, j.id
                         limit case when cardinality(queue_ids) + coalesce(cardinality(places), 0) < claim.batch_size then claim.queue_batch else 1 end) as n) as c
         order by c.number > 1, c.place, c.number
         limit claim.batch_size - coalesce(cardinality(places), 0)
      ), locked as (
        select c.job_queue_id, c.number,
               (select j.ctid
                  from {{.schema}}._private_jobs as j
                 where j.ctid = c.ctid and j.xmin = c.xmin
                   and (c.number = 1 or c.follows)
                   for update skip locked) as place
          from chosen as c
      ), streaks as materialized (
        select l.job_queue_id, l.place, bool_and(l.place is not null) over (partition by l.job_queue_id order by l.number) as is_whole
          from locked as l
      ), fitting as materialized (
        select case when claim.batch_size = 1 then p.places
                    else {{.schema}}._gw_within_bytes(p.places, claim.max_bytes) end as places
          from (select places || array(select s.place from streaks as s where s.is_whole) as places) as p
      ), held as materialized (
        select array_agg(s.job_queue_id order by s.job_queue_id) as queue_ids
          from streaks as s
         where s.is_whole
           and (cardinality((select f.places from fitting as f))
                = (select count(*) from streaks as w where w.is_whole) + coalesce(cardinality(places), 0)
                or s.place = any ((select f.places from fitting as f)::tid[]))
      ), taken as (
        update {{.schema}}._private_job_queues as q
           set locked_by = claim.worker_id,
               locked_at = claim.claimed_at -- see _gw_queue_locked_at
                           - (width_bucket(q.id, h.queue_ids) - width_bucket(q.id - 1, h.queue_ids) - 1) * interval '1 microsecond'
          from held as h
         where q.id = any (h.queue_ids)
      )
      select f.places into places from fitting as f;
    elsif (bytes <= claim.max_bytes) is not true then
      places := {{.schema}}._gw_within_bytes(places, claim.max_bytes);
    end if;

    -- Both statements skip the same entries, the second one only if the batch has places left.
    reads := greatest(front_reads, {{.schema}}._gw_index_reads() - reads);
    if cursor is not null and not from_cursor or looked and beyond is not null or (reads - (case when from_cursor then 100 else 1000 end)) / 4 > claim.batch_size then
      perform {{.schema}}._gw_put_claim_cursor(
        claim, from_place, case when not from_cursor or looked and beyond is not null then looked_at end, places, beyond is not null);
    end if;

    exit when cardinality(places) > 0;
    if from_cursor and not looked and {{.schema}}._gw_lease(clock_timestamp()) > cursor[3] then
      from_cursor := false;
    elsif queued and not queues_only
          and exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is null) then
      -- Other workers may be claiming the jobs without a queue that had their places in this batch. The heads of queues
      -- must not wait for the next call.
      queues_only := true;
    elsif skips_held then
      -- If a job is replaced between the search and the lock, neither it nor another job in its place is taken.
      skips_held := false;
      look := 'all queues'; -- the short searches return few spare queues
    elsif queue_ids is not null
          and exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is null) then
      plain_only := true; -- other transactions hold the heads of the queues that filled this batch
    else
      exit;
    end if;
  end loop;

  -- An empty claim stores when a claim will look in front of the cursor, unless it has done so itself; next_run_at reads it.
  if (cardinality(places) > 0) is not true then
    look_at := case when from_cursor and not looked then cursor[3]::text else '' end;
    if coalesce(current_setting('gw.claim_look_at', true), '') <> look_at then
      perform set_config('gw.claim_look_at', look_at, false);
    end if;
  end if;

  -- Stores which search the next claim of this session starts with; see _gw_front_queues.
  if queued then
    if look <> hint and hint not like '{%' and coalesce(current_setting('gw.claim_cursor', true), '') = hint then
      perform set_config('gw.claim_cursor', look, false);
    end if;
  elsif hint like '% queues' and current_setting('gw.claim_cursor', true) = hint then
    perform set_config('gw.claim_cursor', '', false);
  end if;
  return places;
end;
$$;

comment on function {{.schema}}._gw_lock_jobs({{.schema}}._gw_claim, boolean) is
  'Internal: locks the jobs for get_job_batch if there are named queues, suspects, forbidden flags of single tasks or many index entries to skip, and returns their ctids.';
