-- The claim cursor is the position of the first job without a queue that a claim may take, now or later. The index
-- entries before it belong to jobs that have ended (not vacuumed yet, or kept by a long transaction), to other tasks,
-- or to jobs with forbidden flags. Skipping 200 000 such entries costs 20 ms per claim.
-- The cursor is a session setting, written only after a claim had to skip many entries. It stays correct if a pooler
-- lends the session to another client, because its scope names the queue, the tasks and the flags. Sessions share their
-- cursors through the table _gw_claim_cursors: a session that has a cursor, or does not know yet whether it needs one, takes
-- the newest one of its scope. Otherwise each session would skip the jobs that all others have claimed since its last
-- claim. A cursor is stored as a new row, and searched from the newest one on, so a transaction that stays open, and
-- so prevents vacuum, does not make it slower.
-- The cursor is only a hint: claims also search from the beginning of the index from time to time. A job that
-- appears before the cursor waits at most fifty times as long as such a search takes: a few milliseconds, never more
-- than half a second. An empty claim that has not searched there leaves the time when one will in the setting gw.claim_look_at,
-- so that a worker without jobs does not wait longer: next_run_at returns it.
-- A claim that searches from the beginning leaves the place of the first job in the setting gw.claim_looked for the rest of
-- its statement: an idle worker also asks when a job is next due, and next_run_at need not skip the same entries again.
-- If there is no cursor, the setting may hold the kind of search of named queues that sufficed for the last claim; see
-- _gw_front_queues.

-- Returns the cursor of this session for such claims; null if there is none or if it is invalid.
-- The elements are: scope, the time until which claims start at the cursor, the time after which a claim that finds
-- nothing there may search from the beginning, priority, run_at and id of the first job, and the time when the cursor
-- was set. Times are in microseconds since 1970. A cursor that was set in the future was stored before the clock was
-- set back.
create or replace function {{.schema}}._gw_claim_cursor(claim {{.schema}}._gw_claim)
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  stored text := current_setting('gw.claim_cursor', true);
  own    bigint[];
begin
  -- Two simple patterns; a single pattern that counts up to 17 digits costs five times as much.
  if stored ~ '^[{](-?[0-9]+,){6}[0-9]+[}]$' and stored !~ '[0-9]{18}' then
    own := stored::bigint[];
    if own[1] = {{.schema}}._gw_cursor_scope(claim) and own[7] <= {{.schema}}._gw_lease(clock_timestamp()) then
      return coalesce({{.schema}}._gw_newest_cursor(own[1], own[7]), own);
    end if;
  end if;
  return null;
end;
$$;

comment on function {{.schema}}._gw_claim_cursor({{.schema}}._gw_claim) is
  'Internal: returns the cursor for such claims of this session: the position of the first job without a queue that they may take.';

-- Returns the place of a cursor of the session; null if the claim has to begin at the start of the index.
create or replace function {{.schema}}._gw_cursor_place(claim {{.schema}}._gw_claim, cursor bigint[])
  returns {{.schema}}._gw_place language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if {{.schema}}._gw_lease(claim.claimed_at) < cursor[2] and claim.due <= {{.schema}}._gw_locked_at(cursor[2]) then
    return row(cursor[4]::smallint, {{.schema}}._gw_locked_at(cursor[5]), cursor[6], null)::{{.schema}}._gw_place;
  end if;
  return null;
end;
$$;

comment on function {{.schema}}._gw_cursor_place({{.schema}}._gw_claim, bigint[]) is
  'Internal: returns the place of a claim cursor if it is valid for the claim.';

-- Returns the newest stored cursor of a scope, if it was set after this time. In PL/pgSQL, which keeps the plan: a function in SQL
-- that cannot be inlined is planned in each transaction, which takes longer than the claim of a job.
create or replace function {{.schema}}._gw_newest_cursor(for_scope bigint, since bigint)
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  return (select c.cursor
            from {{.schema}}._gw_claim_cursors as c
           where c.scope = for_scope and c.put_at > since and c.put_at <= {{.schema}}._gw_lease(clock_timestamp())
           order by c.put_at desc
           limit 1);
end;
$$;

comment on function {{.schema}}._gw_newest_cursor(bigint, bigint) is
  'Internal: returns the newest stored cursor of a scope, if it was set after this time.';

-- Copies the newest stored cursor for such claims into this session.
create or replace function {{.schema}}._gw_take_claim_cursor(claim {{.schema}}._gw_claim)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('gw.claim_cursor', coalesce({{.schema}}._gw_newest_cursor({{.schema}}._gw_cursor_scope(claim), 0)::text, ''), false);
end;
$$;

comment on function {{.schema}}._gw_take_claim_cursor({{.schema}}._gw_claim) is
  'Internal: copies the newest stored claim cursor into this session.';

-- Returns the place of the first job without a queue, at or after a place, that such claims may take at a time, or at the next one
-- of these times if there is none; null if there is none at all. places: jobs that this transaction is claiming.
create or replace function {{.schema}}._gw_first_plain_job(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, at_times timestamptz[], places tid[])
  returns {{.schema}}._gw_place language plpgsql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  first    {{.schema}}._gw_place;
  snapshot txid_snapshot := txid_current_snapshot();
  -- With many places, this transaction is one of the lockers: so no row has to be compared with all places.
  lockers  xid[]         := case when cardinality(places) > 20 then {{.schema}}._gw_lockers(snapshot) || (txid_current() & 4294967295)::text::xid end;
begin
  foreach claim.due in array at_times loop
    select j.priority, j.run_at, j.id, null::integer
      into first
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is null
       and (j.priority, j.run_at, j.id)
           >= (coalesce(from_place.priority, -32768), coalesce(from_place.run_at, '-infinity'), coalesce(from_place.id, 0))
       and (places is null or lockers is not null or j.ctid <> all (places))
       and {{.schema}}._gw_may_lock(j.xmax, snapshot, lockers)
       and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
     order by j.priority, j.run_at, j.id
     limit 1;
    exit when found;
  end loop;
  return first;
end;
$$;

comment on function {{.schema}}._gw_first_plain_job({{.schema}}._gw_claim, {{.schema}}._gw_place, timestamptz[], tid[]) is
  'Internal: returns the place of the first job without a queue, at or after a place, that such claims may take.';

-- Sets the cursor to the first job, at or after a place, that such claims may take now or later. passing: sets it to
-- the first job that they may take before the cursor expires, because future jobs at many priorities take long to skip.
-- looked_at: when the search began, if it began at the start of the index; if that search skipped nothing, no cursor is
-- needed, and its duration determines for how long the cursor applies. If there is no such job, the cursor stays where it is, or
-- goes to the last of places, behind which new jobs appear. places: jobs that this transaction is claiming.
create or replace function {{.schema}}._gw_put_claim_cursor(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, looked_at timestamptz, places tid[],
  passing boolean default false)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  cursor   bigint[] := {{.schema}}._gw_claim_cursor(claim);
  ended_at bigint   := {{.schema}}._gw_lease(clock_timestamp());
  took     bigint   := ended_at - {{.schema}}._gw_lease(looked_at);
  ends_at  bigint   := case when looked_at is not null then ended_at + 500000 else cursor[2] end; -- at the latest
  stays    boolean; -- other sessions have this cursor, too
  reads    bigint   := {{.schema}}._gw_index_reads();
  first    {{.schema}}._gw_place;
begin
  stays := cursor[2] > ended_at;
  first := {{.schema}}._gw_first_plain_job(
    claim, from_place, case when passing then array[{{.schema}}._gw_locked_at(ends_at), 'infinity'] else '{infinity}' end, places);
  reads := {{.schema}}._gw_index_reads() - reads;
  if looked_at is not null then
    if not passing then -- this search is a part of it, or was all of it
      ended_at := {{.schema}}._gw_lease(clock_timestamp());
      took := ended_at - {{.schema}}._gw_lease(looked_at);
    end if;
    ends_at := ended_at + least(50 * took, 500000);
  end if;
  if first.id is null then
    first := {{.schema}}._gw_last_place(cursor, places);
    if first.id is null and reads >= 1000 then
      -- No such job is known. The skipped entries are of jobs that were due, and most jobs have this priority.
      first := row(0, now() - interval '1 second', 0, null);
    end if;
  end if;

  if first.id is null or not isfinite(first.run_at) or looked_at is not null and reads < 1000 and first.run_at <= now() then
    perform set_config('gw.claim_cursor', '', false);
  else
    -- The microseconds of the last years are no bigint. An earlier place passes no job.
    stays := stays and first.id = cursor[6];
    cursor := array[
      {{.schema}}._gw_cursor_scope(claim),
      ends_at,
      case when looked_at is not null then ended_at + case when took < 5000 then 0 else least(20 * took, 500000) end else cursor[3] end,
      first.priority, {{.schema}}._gw_lease(least(first.run_at, timestamptz '5000-01-01')), first.id, ended_at];
    perform set_config('gw.claim_cursor', cursor::text, false);
    if (took > 1000 or looked_at is null) and stays is not true then
      insert into {{.schema}}._gw_claim_cursors (scope, put_at, cursor) values (cursor[1], ended_at, cursor);
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_put_claim_cursor({{.schema}}._gw_claim, {{.schema}}._gw_place, timestamptz, tid[], boolean) is
  'Internal: sets this session''s claim cursor to the first job, at or after a place, that such claims may take.';

-- For a claim that searches from the beginning of the index: sets the cursor first, which skips the entries once, for the claim and for
-- the cursor. Returns its place; null if no cursor is needed.
create or replace function {{.schema}}._gw_look_at_start(claim {{.schema}}._gw_claim, looked_at timestamptz)
  returns {{.schema}}._gw_place language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  cursor bigint[];
begin
  perform {{.schema}}._gw_put_claim_cursor(claim, null, looked_at, null);
  cursor := nullif(current_setting('gw.claim_cursor', true), '')::bigint[];
  if cursor is null then
    return null;
  end if;
  perform set_config('gw.claim_looked', array[
    {{.schema}}._gw_cursor_scope(row(null, claim.task_ids, null, null, null, null, null, null, null, null)::{{.schema}}._gw_claim),
    {{.schema}}._gw_lease(statement_timestamp()), cursor[4], cursor[5], cursor[6]]::text, true);
  return row(cursor[4]::smallint, {{.schema}}._gw_locked_at(cursor[5]), cursor[6], null)::{{.schema}}._gw_place;
end;
$$;

comment on function {{.schema}}._gw_look_at_start({{.schema}}._gw_claim, timestamptz) is
  'Internal: sets the claim cursor by a search from the beginning, and returns its place.';

-- Returns the last one of the places of a cursor and of these jobs; null if there is none.
create or replace function {{.schema}}._gw_last_place(cursor bigint[], places tid[])
  returns {{.schema}}._gw_place language plpgsql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  last {{.schema}}._gw_place;
begin
  select j.priority, j.run_at, j.id, null::integer
    into last
    from (select c.priority, c.run_at, c.id
            from {{.schema}}._private_jobs as c
           where c.ctid = any (places)
          union all
          select cursor[4]::smallint, {{.schema}}._gw_locked_at(cursor[5]), cursor[6] where cursor is not null) as j
   order by j.priority desc, j.run_at desc, j.id desc
   limit 1;
  return last;
end;
$$;

comment on function {{.schema}}._gw_last_place(bigint[], tid[]) is
  'Internal: returns the last one of the places of a claim cursor and of these jobs.';

-- Returns a number for the claims that share a claim cursor.
create or replace function {{.schema}}._gw_cursor_scope(claim {{.schema}}._gw_claim)
  returns bigint language sql stable
as $$
  select 9007199254740991 operator(pg_catalog.&) pg_catalog.hashtextextended(pg_catalog.format('%s %s %s %s %s',
    '{{ replace "'" "''" .schema }}._private_jobs'::pg_catalog.regclass::pg_catalog.oid, claim.task_ids, claim.forbidden_flags,
    claim.flagged_tasks, claim.task_flags), 0)
$$;

comment on function {{.schema}}._gw_cursor_scope({{.schema}}._gw_claim) is
  'Internal: returns a number for the claims that share a claim cursor.';

-- Returns how much of the index of jobs without a queue this transaction has read: entries, plus pages counted as five
-- entries each.
create or replace function {{.schema}}._gw_index_reads()
  returns bigint language sql volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned('{{ replace "'" "''" .schema }}.jobs_no_queue_index'::pg_catalog.regclass)
         operator(pg_catalog.+)
         (5 operator(pg_catalog.*) pg_catalog.pg_stat_get_xact_blocks_fetched('{{ replace "'" "''" .schema }}.jobs_no_queue_index'::pg_catalog.regclass))
$$;

comment on function {{.schema}}._gw_index_reads() is
  'Internal: returns how much of the index of jobs without a queue this transaction has read.';
