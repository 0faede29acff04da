-- Returns the current problems of this queue, most severe first. No row means that this role can see no problem.
-- command: the remedy as one SQL statement, or one command of a shell, if it is one; remedy has it, too, and says when
-- to run it. Read-only, without locks; each finding reads at most this many pages of a table, however large it is.
-- Raises GWILM (pages is negative).
create or replace function {{.schema}}.doctor(pages bigint default 10000)
  returns table (severity text, finding text, subject text, detail text, remedy text, command text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set quote_all_identifiers = off
as $$
begin
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  select f.severity, f.finding, f.subject, f.detail, f.advice[1] || coalesce(' ' || f.advice[2], ''), f.advice[2]
    from (select o.*, regexp_match(o.remedy, E'^([^\n]*)(?:\n(.*))?$') as advice
            from {{.schema}}._gw_findings(pages) with ordinality
              as o (severity, finding, subject, detail, remedy, number)) as f
   order by array_position(array['critical', 'warning', 'info'], f.severity), f.number;
end;
$$;

comment on function {{.schema}}.doctor(bigint) is
  'Returns the current problems of this queue, most severe first, each with its effect and a remedy, also as one statement or command: critical (jobs cannot be added or run, or soon cannot), warning (it costs time or space, or jobs wait) and info. Returns no row if there is no problem. Read-only, and its cost is bounded however large the tables are: of a table with more than pages pages each finding reads a sample of that size. Call it as the owner of the queue; with the role pg_read_all_stats it sees more of other roles'' sessions.';

-- Returns the findings of doctor(), in the order of the checks. Each finding is a function of its own. If one fails,
-- for example because a table was changed by hand, its error is reported and the other findings are still returned. A
-- remedy that is one statement or command has that on a line of its own.
create or replace function {{.schema}}._gw_findings(pages bigint)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  look text;
begin
  -- Row level security hides the queue from all roles except its owner. In that case no other finding is possible.
  return query
  select 'warning',
         'hidden queue',
         'role ' || quote_ident(current_user),
         'This role does not own the queue and sees no rows of it, so nothing was examined.',
         format(e'Ask again as the owner, with:\nset role %I;', pg_get_userbyid(c.relowner))
    from pg_class as c
   where c.relname = '_private_jobs' and c.relnamespace = {{.schema}}._gw_namespace() and row_security_active(c.oid);
  if found then
    return;
  end if;

  foreach look in array array[
    '_gw_find_replaced_functions()',
    '_gw_find_unpinned_functions()',
    '_gw_find_lacking_roles()',
    '_gw_find_node_indexes($1)',
    '_gw_find_ending_identities()',
    '_gw_find_sequences_behind()',
    '_gw_find_full_notify_queue()',
    '_gw_find_two_phase_commit()',
    '_gw_find_old_snapshots()',
    '_gw_find_held_names()',
    '_gw_find_dead_rows()',
    '_gw_find_stale_locks($1)',
    '_gw_find_orphaned_queues($1)',
    '_gw_find_held_queues($1)',
    '_gw_find_held_limits()',
    '_gw_find_limit_holders()',
    '_gw_find_node_limits($1)',
    '_gw_find_mended_jobs()',
    '_gw_find_failed_work()',
    '_gw_find_damage()',
    '_gw_find_future_times(pages => $1)',
    '_gw_find_drained_workers()',
    '_gw_find_no_worker($1)',
    '_gw_find_unknown_tasks($1)',
    '_gw_find_unreadable_jobs($1)',
    '_gw_find_failed_jobs($1)',
    '_gw_find_refused_zones()',
    '_gw_find_late_schedules()',
    '_gw_find_unseen_rows($1)'
  ] loop
    begin
      return query execute format('select f.severity, f.finding, f.subject, f.detail, f.remedy from %s.%s as f',
                                  {{.schema}}._gw_namespace(), look) using pages;
    exception when others then
      return query values ('warning', 'not examined', 'function ' || split_part(look, '(', 1), sqlerrm || '.',
                           'Check the schema with: gw-migrate status');
    end;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_findings(bigint) is 'Internal: returns the findings of doctor(), in the order of the checks.';
