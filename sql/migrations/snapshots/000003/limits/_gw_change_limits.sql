-- For operators: begins a change of limits or pauses. Only one transaction at a time changes them; claims go on. A
-- transaction whose snapshot is older than the last change fails.
-- Locks: the table of limits, so that nobody else changes it; the row of _gw_limit_changes.
-- Raises 40001 (above READ COMMITTED).
create or replace function {{.schema}}._gw_change_limits()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  lock table {{.schema}}._gw_limits in share row exclusive mode;
  insert into {{.schema}}._gw_limit_changes default values
      on conflict on constraint _gw_limit_changes_pkey do update set changed_at = clock_timestamp();
end;
$$;

comment on function {{.schema}}._gw_change_limits() is 'Internal: for operators: begins a change of limits or pauses.';

-- For operators: begins a change of one limit, and locks it and all that share a task with it. keyed: it must have by.
-- Raises GWLNM, GWLHB, 40001.
create or replace function {{.schema}}._gw_change_limit(limit_name text, keyed boolean default false)
  returns {{.schema}}._gw_limits language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  i {{.schema}}._gw_limits;
begin
  perform {{.schema}}._gw_change_limits();
  select l.* into i from {{.schema}}._gw_limits as l where l.name = limit_name and (l.by is not null or not keyed);
  if not found then
    raise exception 'There is no limit ''%''%.', coalesce(limit_name, 'null'), case when keyed then ' with several lanes' else '' end
      using errcode = 'GWLNM';
  end if;
  perform {{.schema}}._gw_lock_limits(i.tasks);
  return i;
end;
$$;

comment on function {{.schema}}._gw_change_limit(text, boolean) is 'Internal: for operators: begins a change of one limit, and locks it and all that share a task with it.';

-- For operators: locks all limits that share a task with these (null: all limits), all of them or none. It lets go of
-- them while it waits for one that a claim holds, so that claims of others go on. A claim in a transaction that stays
-- open holds its limits for as long.
-- Locks: rows of _gw_limits.
-- Raises GWLHB after five seconds; the message names the session.
create or replace function {{.schema}}._gw_lock_limits(task_names text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  until constant timestamptz := clock_timestamp() + interval '5 seconds';
  held  record;
begin
  loop
    begin
      perform from {{.schema}}._gw_limits as l where (l.tasks && task_names) is not false order by l.id for update nowait;
      return;
    exception when lock_not_available then
      if clock_timestamp() > until then
        select l.name, coalesce('the ' || h.who || coalesce(' since ' || h.since, ''), 'another transaction') as holder
          into held
          from {{.schema}}._gw_limits as l
          left join {{.schema}}._gw_limit_holders() as h on h.limit_id = l.id
         where (l.tasks && task_names) is not false and l.xmax <> '0'
         order by h.who is null, l.id
         limit 1;
        raise exception 'The limit ''%'' is held by %.', held.name, held.holder
          using errcode = 'GWLHB', hint = 'A transaction that has claimed jobs under a limit holds it until it ends. Try again then.';
      end if;
    end;
    perform pg_sleep(0.001 + 0.004 * random());
  end loop;
end;
$$;

comment on function {{.schema}}._gw_lock_limits(text[]) is 'Internal: for operators: locks all limits that share a task with these (null: all limits), all of them or none.';

-- Makes claims look again at the gates of these limits, whose numbers or pauses have changed. The caller holds the
-- limits.
create or replace function {{.schema}}._gw_look_at_limits(limit_ids integer[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  perform {{.schema}}._gw_name_gates(
    array(select g.id from {{.schema}}._gw_gates as g where g.limit_id = any (limit_ids)), clock_timestamp());
  perform {{.schema}}._gw_wake(1);
end;
$$;

comment on function {{.schema}}._gw_look_at_limits(integer[]) is 'Internal: makes claims look again at the gates of these limits, whose numbers or pauses have changed.';
