-- PostgreSQL refuses PREPARE TRANSACTION after NOTIFY. With the setting notify = always, every add_job notifies, so a
-- transaction that adds a job cannot commit in two phases, which is how Citus commits over several nodes.
create or replace function {{.schema}}._gw_find_two_phase_commit(
  prepared integer default current_setting('max_prepared_transactions')::integer, has_citus boolean default null)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  has_citus := coalesce(has_citus, exists (select from pg_extension as e where e.extname = 'citus'));
  if prepared = 0 and not has_citus or {{.schema}}.setting('notify') <> 'always' then
    return;
  end if;
  return query
  select 'info',
         'two-phase commit',
         'setting notify',
         format('%s. A transaction that has added a job cannot commit in two phases: add_job has sent a notification, '
                'after which PostgreSQL refuses PREPARE TRANSACTION.',
                case when has_citus then 'The extension citus is installed, and it commits in two phases over several nodes'
                     else format('max_prepared_transactions is %s, so transactions may commit in two phases', prepared)
                end),
         format(e'If transactions that add jobs commit in two phases, turn notifications off with:\nselect %s.set_setting(''notify'', ''never''); -- workers then find jobs within their poll interval',
                {{.schema}}._gw_namespace());
end;
$$;
