-- What hurts this queue now, most severe first. No row: all is well, as far as this role can see.
-- Reads only, locks nothing, and reads at most 10 000 pages of a table for a finding, however large that is.
create or replace function {{.schema}}.doctor()
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select f.severity, f.finding, f.subject, f.detail, f.remedy
    from {{.schema}}._gw_findings() with ordinality as f (severity, finding, subject, detail, remedy, number)
   order by array_position(array['critical', 'warning', 'info'], f.severity), f.number;
end;
$$;

comment on function {{.schema}}.doctor() is
  'What hurts this queue now: critical (jobs cannot be added or run, or soon), warning (it costs time, space or waiting jobs) and info, most severe first, each with what it costs to leave it and what to do. No row: all is well. Read-only, and bounded however large the tables are. To be asked by the owner of the queue; with the role pg_read_all_stats it sees more of other roles'' sessions.';

-- Each finding is a function of its own. One that fails, as with a table that somebody has changed, says so and does not
-- keep the others from being told.
create or replace function {{.schema}}._gw_findings()
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  look text;
begin
  return query select h.severity, h.finding, h.subject, h.detail, h.remedy from {{.schema}}._gw_find_hidden_queue() as h;
  if found then
    return;
  end if;

  foreach look in array array[
    '_gw_find_replaced_functions',
    '_gw_find_ending_identities',
    '_gw_find_full_notify_queue',
    '_gw_find_old_snapshots',
    '_gw_find_held_names',
    '_gw_find_dead_rows',
    '_gw_find_stale_locks',
    '_gw_find_orphaned_queues',
    '_gw_find_unknown_tasks',
    '_gw_find_unreadable_jobs',
    '_gw_find_failed_jobs',
    '_gw_find_spare_indexes',
    '_gw_find_unseen_rows'
  ] loop
    begin
      return query execute format('select f.severity, f.finding, f.subject, f.detail, f.remedy from %s.%I() as f',
                                  {{.schema}}._gw_namespace(), look);
    exception when others then
      return query values ('warning', 'not examined', 'function ' || look, sqlerrm || '.',
                           'See whether the schema is as it should be, with: gw-migrate status');
    end;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_findings() is
  'Internal: what doctor() finds, in the order in which it looks.';
