-- Records an act of an operator in the audit, in the transaction of the act. role is the role of the session. If the
-- program sets gw.actor, gw.selection and gw.operation, these settings are recorded as well; see list_audit. The acts
-- of one operation, such as the steps of a change of many jobs, are one row.
-- Locks: the row of the operation.
create or replace function {{.schema}}._gw_record_act(
  act text, jobs bigint, subject text default null, job_ids bigint[] default null)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  of_operation constant text := nullif(current_setting('gw.operation', true), '');
begin
  if of_operation is not null then
    update {{.schema}}._gw_audit as a
       set jobs = a.jobs + _gw_record_act.jobs, ended_at = clock_timestamp()
     where a.operation = of_operation and a.act = _gw_record_act.act and a.role = session_user;
    if found then
      return;
    end if;
  end if;
  insert into {{.schema}}._gw_audit (act, jobs, subject, job_ids, role, actor, selection, operation)
  values (_gw_record_act.act, _gw_record_act.jobs, left(_gw_record_act.subject, 1000),
          (select array_agg(f.id) from (select u.id from unnest(_gw_record_act.job_ids) as u (id) limit 100) as f), session_user,
          left(nullif(current_setting('gw.actor', true), ''), 200),
          left(nullif(current_setting('gw.selection', true), ''), 1000), of_operation);
end;
$$;

comment on function {{.schema}}._gw_record_act(text, bigint, text, bigint[]) is 'Internal: records an act of an operator in the audit, in the transaction of the act.';
