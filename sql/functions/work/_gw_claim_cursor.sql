-- The claim cursor is the position of the first job without a queue that a claim may take, now or later. The index
-- entries before it belong to jobs that have ended (not vacuumed yet, or kept by a long transaction), to other tasks,
-- or to jobs with forbidden flags. Skipping 200 000 such entries costs 20 ms per claim.
-- The cursor is a session setting, written only after a claim had to skip many entries. A setting cannot bloat, and it
-- stays correct if a pooler lends the session to another client, because its scope names the queue, the tasks and the
-- flags. The cursor is only a hint: claims also search from the beginning of the index from time to time. A job that
-- appears before the cursor waits at most fifty times as long as such a search takes: a few milliseconds, never more
-- than half a second.
-- The result of a search from the beginning is also stored in the table _gw_claim_cursors. A session reads it before
-- its first claim; without it, the first claim of each session would skip all those entries again.
-- If there is no cursor, the setting may hold the kind of search of named queues that sufficed for the last claim; see
-- _gw_front_queues.

-- Returns the cursor of this session for such claims; null if there is none or if it is invalid.
-- The elements are: scope, the time until which claims start at the cursor, the time after which a claim that finds
-- nothing there may search from the beginning, priority, run_at and id of the first job, and the time when the cursor
-- was set. Times are in microseconds since 1970. A cursor that was set in the future was stored before the clock was
-- set back.
create or replace function {{.schema}}._gw_claim_cursor(
  task_identifiers     text[],
  forbidden_flags      text[],
  task_forbidden_flags json
)
  returns bigint[]
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  stored text := current_setting('gw.claim_cursor', true);
  cursor bigint[];
begin
  -- Two simple patterns; a single pattern that counts up to 17 digits costs five times as much.
  if stored ~ '^[{](-?[0-9]+,){6}[0-9]+[}]$' and stored !~ '[0-9]{18}' then
    cursor := stored::bigint[];
    if cursor[1] = {{.schema}}._gw_cursor_scope(task_identifiers, forbidden_flags, task_forbidden_flags)
       and cursor[7] <= {{.schema}}._gw_lease(clock_timestamp()) then
      return cursor;
    end if;
  end if;
  return null;
end;
$$;

comment on function {{.schema}}._gw_claim_cursor(text[], text[], json) is
  'Internal: returns this session''s cursor for such claims: the position of the first job without a queue that they may take.';

-- Copies the stored cursor for such claims into a session that has not claimed yet.
create or replace function {{.schema}}._gw_take_claim_cursor(
  task_identifiers     text[],
  forbidden_flags      text[],
  task_forbidden_flags json
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  scope bigint := {{.schema}}._gw_cursor_scope(task_identifiers, forbidden_flags, task_forbidden_flags);
begin
  perform set_config('gw.claim_cursor', coalesce((
    select c.cursor::text from {{.schema}}._gw_claim_cursors as c where c.slot = scope % 256 and c.cursor[1] = scope), ''), false);
end;
$$;

comment on function {{.schema}}._gw_take_claim_cursor(text[], text[], json) is
  'Internal: copies the stored claim cursor into a session that has not claimed yet.';

-- Stores a cursor for other sessions, unless the stored one stays in force for at least half as long as this one, or
-- another session is storing one at the same time. The function does nothing in a transaction whose snapshot may be
-- older than the row, because the claim would fail with a serialization error.
create or replace function {{.schema}}._gw_keep_claim_cursor(
  cursor bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  if current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
    update {{.schema}}._gw_claim_cursors as c
       set cursor = _gw_keep_claim_cursor.cursor
     where c.slot = (
             select l.slot
               from {{.schema}}._gw_claim_cursors as l
              where l.slot = _gw_keep_claim_cursor.cursor[1] % 256
                and (l.cursor[1] = _gw_keep_claim_cursor.cursor[1]
                     and l.cursor[2] between (_gw_keep_claim_cursor.cursor[2] + _gw_keep_claim_cursor.cursor[7]) / 2
                                         and _gw_keep_claim_cursor.cursor[2]) is not true
                for no key update skip locked);
  end if;
end;
$$;

comment on function {{.schema}}._gw_keep_claim_cursor(bigint[]) is
  'Internal: stores a claim cursor for sessions that have not claimed yet.';

-- Sets the cursor to the first job, at or after a position, that such claims may take now or later. passing: sets it to
-- the first job that they may take before the cursor expires, because future jobs at many priorities take long to skip.
-- looked_at: when the search began, if it began at the start of the index; if that search skipped nothing, no cursor is
-- needed. places: jobs that this transaction is claiming.
create or replace function {{.schema}}._gw_put_claim_cursor(
  task_identifiers     text[],
  forbidden_flags      text[],
  task_forbidden_flags json,
  from_priority        integer,
  from_run_at          timestamptz,
  from_id              bigint,
  looked_at            timestamptz,
  places               tid[],
  passing              boolean default false
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  cursor        bigint[] := {{.schema}}._gw_claim_cursor(task_identifiers, forbidden_flags, task_forbidden_flags);
  ended_at      bigint   := {{.schema}}._gw_lease(clock_timestamp());
  took          bigint   := ended_at - {{.schema}}._gw_lease(looked_at);
  ends_at       bigint   := case when looked_at is not null then ended_at + least(50 * took, 500000) else cursor[2] end;
  until         timestamptz;
  task_ids      integer[];
  flagged_tasks integer[];
  task_flags    text[];
  first         record;
  reads         bigint   := {{.schema}}._gw_index_reads();
begin
  if task_identifiers is not null then
    task_ids := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers));
  end if;
  if task_forbidden_flags is not null then
    select f.task_ids, f.flagged_tasks, f.task_flags
      into task_ids, flagged_tasks, task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, task_ids) as f;
  end if;
  foreach until in array case when passing then array[{{.schema}}._gw_locked_at(ends_at), 'infinity'] else '{infinity}' end loop
    select j.priority, j.run_at, j.id
      into first
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is null
       and (j.priority, j.run_at, j.id)
           >= (coalesce(from_priority, -32768), coalesce(from_run_at, '-infinity'), coalesce(from_id, 0))
       and (places is null or j.ctid <> all (places))
       and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, until, task_ids, forbidden_flags, flagged_tasks, task_flags)
     order by j.priority, j.run_at, j.id
     limit 1;
    exit when first.id is not null;
  end loop;
  reads := {{.schema}}._gw_index_reads() - reads;

  if first.id is null or not isfinite(first.run_at)
     or looked_at is not null and reads < 1000 and first.run_at <= now() then
    perform set_config('gw.claim_cursor', '', false);
  else
    cursor := array[
      {{.schema}}._gw_cursor_scope(task_identifiers, forbidden_flags, task_forbidden_flags),
      ends_at,
      case when looked_at is not null then ended_at + case when took < 5000 then 0 else least(20 * took, 500000) end else cursor[3] end,
      first.priority, {{.schema}}._gw_lease(first.run_at), first.id, ended_at];
    perform set_config('gw.claim_cursor', cursor::text, false);
    if took > 1000 and looked_at is not null then
      perform {{.schema}}._gw_keep_claim_cursor(cursor);
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_put_claim_cursor(text[], text[], json, integer, timestamptz, bigint, timestamptz, tid[], boolean) is
  'Internal: sets this session''s claim cursor to the first job, at or after a position, that such claims may take.';

create or replace function {{.schema}}._gw_cursor_scope(
  task_identifiers     text[],
  forbidden_flags      text[],
  task_forbidden_flags json
)
  returns bigint
  language sql
  stable
as $$
  select 9007199254740991 operator(pg_catalog.&) pg_catalog.hashtextextended(pg_catalog.format('%s %s %s %s',
    '{{ replace "'" "''" .schema }}._private_jobs'::pg_catalog.regclass::pg_catalog.oid, task_identifiers, forbidden_flags,
    task_forbidden_flags), 0)
$$;

comment on function {{.schema}}._gw_cursor_scope(text[], text[], json) is
  'Internal: returns a number for the claims that share a claim cursor.';

-- Returns how much of the index of jobs without a queue this transaction has read: entries, plus pages counted as five
-- entries each.
create or replace function {{.schema}}._gw_index_reads()
  returns bigint
  language sql
  volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned('{{ replace "'" "''" .schema }}.jobs_no_queue_index'::pg_catalog.regclass)
         operator(pg_catalog.+)
         (5 operator(pg_catalog.*) pg_catalog.pg_stat_get_xact_blocks_fetched('{{ replace "'" "''" .schema }}.jobs_no_queue_index'::pg_catalog.regclass))
$$;

comment on function {{.schema}}._gw_index_reads() is
  'Internal: returns how much of the index of jobs without a queue this transaction has read.';
