-- Work for the whole fleet: who does it, and what failed. Rows of _gw_turns are inserted when they are needed.

-- Returns whether this transaction has inserted the row of a work, which somebody has deleted, and so locked it.
-- Locks: the row; waits for another transaction that inserts it.
create or replace function {{.schema}}._gw_new_turn(work text)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from {{.schema}}._gw_turns as t where t.name = work) then
    return false;
  end if;
  insert into {{.schema}}._gw_turns (name) values (work) on conflict on constraint _gw_turns_pkey do nothing;
  return found;
end;
$$;

comment on function {{.schema}}._gw_new_turn(text) is 'Internal: returns whether this transaction has inserted the row of a work, which somebody has deleted, and so locked it.';

-- Returns whether this transaction does a periodic work now: it was last done at this time or before, and no other
-- transaction does it. Then it counts as done. A time in the future is that of a clock that was ahead.
-- Locks: the row of the work; skips it if it is locked.
create or replace function {{.schema}}._gw_begin_turn(work text, done_before timestamptz)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform
     from {{.schema}}._gw_turns as t
    where t.name = work and (t.last_at <= done_before or t.last_at > clock_timestamp())
      for update skip locked;
  if not found and not {{.schema}}._gw_new_turn(work) then
    return false;
  end if;
  update {{.schema}}._gw_turns as t set last_at = clock_timestamp() where t.name = work;
  return true;
end;
$$;

comment on function {{.schema}}._gw_begin_turn(text, timestamptz) is 'Internal: returns whether this transaction does a periodic work now: it was last done at this time or before, and no other transaction does it.';

-- Records that a work has failed, or if error is null that it succeeded, without waiting for other transactions that
-- do.
create or replace function {{.schema}}._gw_note_failure(work text, error text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if error is not null then
    raise warning '% failed: %', work, error;
    perform {{.schema}}._gw_new_turn(work);
  end if;
  update {{.schema}}._gw_turns as t
     set error     = _gw_note_failure.error,
         failed_at = case when _gw_note_failure.error is not null then clock_timestamp() end
   where t.name = any (array(
           select l.name
             from {{.schema}}._gw_turns as l
            where l.name = work
              and (l.error is distinct from _gw_note_failure.error or l.failed_at < clock_timestamp() - interval '10 seconds')
              for update skip locked));
end;
$$;

comment on function {{.schema}}._gw_note_failure(text, text) is 'Internal: records that a work has failed, or if error is null that it succeeded, without waiting for other transactions that do.';

-- Calls one of our functions without arguments, on which nothing else in this transaction may depend. If it fails, what
-- it has changed is undone, and the error is recorded for doctor(). Returns whether it has returned true.
create or replace function {{.schema}}._gw_try(work text)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  answer text;
begin
  begin
    execute 'select {{ replace "'" "''" .schema }}.' || quote_ident(work) || '()' into answer;
  exception when others then
    perform {{.schema}}._gw_note_failure(work, sqlerrm);
    return false;
  end;
  perform {{.schema}}._gw_note_failure(work, null);
  return answer is not distinct from 'true';
end;
$$;

comment on function {{.schema}}._gw_try(text) is 'Internal: calls one of our functions without arguments, on which nothing else in this transaction may depend.';
