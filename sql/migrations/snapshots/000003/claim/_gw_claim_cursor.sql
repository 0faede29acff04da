-- The claim cursor is the position of the first job without a queue that a claim may take, now or later. The index
-- entries before it belong to jobs that have ended (not vacuumed yet, or kept by a long transaction), to other tasks,
-- or to jobs with forbidden flags. Skipping 200 000 such entries costs 20 ms per claim.
-- The cursor is a session setting, written only after a claim had to skip many entries. It stays correct if a pooler
-- lends the session to another client, because its scope names the queue, the tasks and the flags. Sessions share their
-- cursors through the table _gw_claim_cursors: a session that has a cursor, or does not know yet whether it needs one,
-- takes the newest one of its scope. Otherwise each session would skip the jobs that all others have claimed since its
-- last claim. A cursor is stored as a new row, and searched from the newest one on, so a transaction that stays open,
-- and so prevents vacuum, does not make it slower.
-- The cursor is only a hint: claims also search from the beginning of the index from time to time. A job that
-- appears before the cursor waits at most fifty times as long as such a search takes: a few milliseconds, never more
-- than half a second. next_run_at uses the cursor, too: if the last claim has searched from the beginning, it begins at
-- the cursor; if not, it returns at the latest the time of the next such search.
-- The elements of a cursor are: scope; the time until which claims start at the cursor; the time after which a claim
-- that finds nothing there may search from the beginning; priority, run_at and id of the first job; the time when the
-- cursor was set; and what the last claim of the session that found nothing has done since then: 1 if it has searched
-- from the beginning, 2 if it has also passed by future jobs, 0 otherwise. Times are in microseconds since 1970. A
-- cursor that was set in the future was stored before the clock was set back.

-- Returns the cursor in the setting of this session; null if there is none or if it is invalid.
create or replace function {{.schema}}._gw_session_cursor()
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  setting text := current_setting('gw.claim_cursor', true);
begin
  -- Two simple patterns; a single pattern that counts up to 17 digits costs five times as much.
  return case when setting ~ '^[{](-?[0-9]+,){7}[0-9]+[}]$' and setting !~ '[0-9]{18}' then setting::bigint[] end;
end;
$$;

comment on function {{.schema}}._gw_session_cursor() is 'Internal: returns the cursor in the setting of this session; null if there is none or if it is invalid.';

-- Returns the newest cursor for such claims, of this session or of another one; null if there is none. It becomes that
-- of the session.
create or replace function {{.schema}}._gw_claim_cursor(claim {{.schema}}._gw_claim)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  for_scope constant bigint   := {{.schema}}._gw_cursor_scope(claim);
  reached   constant bigint   := {{.schema}}._gw_lease(clock_timestamp());
  own       constant bigint[] := {{.schema}}._gw_session_cursor();
  since     constant bigint   := case when own[1] = for_scope and own[7] <= reached then own[7] end; -- null: another scope
  newest    bigint[];
begin
  newest := (select c.cursor
               from {{.schema}}._gw_claim_cursors as c
              where c.scope = for_scope and c.put_at > coalesce(since, 0) and c.put_at <= reached
              order by c.put_at desc
              limit 1);
  if newest is not null then
    perform set_config('gw.claim_cursor', newest::text, false);
  end if;
  return coalesce(newest, case when since is not null then own end);
end;
$$;

comment on function {{.schema}}._gw_claim_cursor({{.schema}}._gw_claim) is 'Internal: returns the newest cursor for such claims, of this session or of another one; null if there is none.';

-- Returns the place of a cursor.
create or replace function {{.schema}}._gw_cursor_place(cursor bigint[])
  returns {{.schema}}._gw_place language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when cursor is not null
              then row(cursor[4]::smallint, {{.schema}}._gw_locked_at(cursor[5]), cursor[6], null)::{{.schema}}._gw_place end;
end;
$$;

comment on function {{.schema}}._gw_cursor_place(bigint[]) is 'Internal: returns the place of a cursor.';

-- Sets the cursor to the first job, at or after a place, that such claims may take now or later. passing: sets it to
-- the first job that they may take before the cursor expires, because future jobs at many priorities take long to skip.
-- looked_at: when the search began, if it began at the start of the index; if that search skipped nothing, no cursor is
-- needed, and its duration determines for how long the cursor applies. last: the last job that this claim has locked.
-- If there is no job for the cursor, it goes there, or stays where it is: new jobs appear behind.
create or replace function {{.schema}}._gw_put_claim_cursor(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, looked_at timestamptz, last {{.schema}}._gw_place,
  passing boolean default false)
  returns void language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  cursor   bigint[]      := {{.schema}}._gw_claim_cursor(claim);
  ended_at bigint        := {{.schema}}._gw_lease(clock_timestamp());
  took     bigint        := ended_at - {{.schema}}._gw_lease(looked_at);
  ends_at  bigint        := case when looked_at is not null then ended_at + 500000 else cursor[2] end; -- at the latest
  stays    boolean       := cursor[2] > ended_at; -- other sessions have this cursor, too
  snapshot txid_snapshot := txid_current_snapshot();
  own      xid           := (txid_current_if_assigned() & 4294967295)::text::xid; -- has locked the jobs of this claim
  reads    bigint        := {{.schema}}._gw_index_reads();
  first    {{.schema}}._gw_place;
begin
  foreach claim.due in array case when passing then array[{{.schema}}._gw_locked_at(ends_at), 'infinity'] else '{infinity}' end loop
    select j.priority, j.run_at, j.id, null::integer into first
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is null
       and (j.priority, j.run_at, j.id)
           >= (coalesce(from_place.priority, -32768), coalesce(from_place.run_at, '-infinity'), coalesce(from_place.id, 0))
       and j.xmax is distinct from own and {{.schema}}._gw_may_lock(j.xmax, snapshot)
       and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
     order by j.priority, j.run_at, j.id
     limit 1;
    exit when found;
  end loop;
  first := case when first.id is null then greatest(last, {{.schema}}._gw_cursor_place(cursor)) else first end;
  reads := {{.schema}}._gw_index_reads() - reads;
  if looked_at is not null then
    if not passing then -- this search is a part of it, or was all of it
      ended_at := {{.schema}}._gw_lease(clock_timestamp());
      took := ended_at - {{.schema}}._gw_lease(looked_at);
    end if;
    ends_at := ended_at + least(50 * took, 500000);
  end if;
  if first.id is null and reads >= 1000 then
    -- No such job is known. The skipped entries are of jobs that were due, and most jobs have this priority.
    first := row(0, now() - interval '1 second', 0, null);
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
      first.priority, {{.schema}}._gw_lease(least(first.run_at, timestamptz '5000-01-01')), first.id, ended_at, 0];
    perform set_config('gw.claim_cursor', cursor::text, false);
    if (took > 1000 or looked_at is null) and stays is not true then
      insert into {{.schema}}._gw_claim_cursors (scope, put_at, cursor) values (cursor[1], ended_at, cursor);
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_put_claim_cursor({{.schema}}._gw_claim, {{.schema}}._gw_place, timestamptz, {{.schema}}._gw_place, boolean) is 'Internal: sets the cursor to the first job, at or after a place, that such claims may take now or later.';

-- Returns a number for the claims that share a claim cursor.
create or replace function {{.schema}}._gw_cursor_scope(claim {{.schema}}._gw_claim)
  returns bigint language sql stable
as $$
  select 9007199254740991 operator(pg_catalog.&) pg_catalog.hashtextextended(pg_catalog.format('%s %s %s %s',
    '{{ replace "'" "''" .schema }}._private_jobs'::pg_catalog.regclass::pg_catalog.oid, claim.task_ids, claim.forbidden_flags,
    claim.task_flags), 0)
$$;

comment on function {{.schema}}._gw_cursor_scope({{.schema}}._gw_claim) is 'Internal: returns a number for the claims that share a claim cursor.';

-- Returns how much of the index of jobs without a queue this transaction has read: entries, plus pages counted as five
-- entries each.
create or replace function {{.schema}}._gw_index_reads()
  returns bigint language sql volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned('{{ replace "'" "''" .schema }}.jobs_no_queue_index'::pg_catalog.regclass)
         operator(pg_catalog.+)
         (5 operator(pg_catalog.*) pg_catalog.pg_stat_get_xact_blocks_fetched('{{ replace "'" "''" .schema }}.jobs_no_queue_index'::pg_catalog.regclass))
$$;

comment on function {{.schema}}._gw_index_reads() is 'Internal: returns how much of the index of jobs without a queue this transaction has read: entries, plus pages counted as five entries each.';
