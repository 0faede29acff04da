-- Returns what operators did, latest first: the acts that match all given conditions, with an id below below_id, if
-- that is given. An act is a call of a function that changes jobs for an operator (retry_jobs, reschedule_jobs,
-- complete_jobs, permanently_fail_jobs, cancel_jobs, force_unlock_workers), cleanup, set_setting, cron_schedule and its
-- like, set_limit, drop_limit, override_lane, open_lane, pause and resume, or remove_job by a program that has set
-- gw.actor. Each is recorded in its own transaction, and kept for the setting audit_for.
-- role is the role of the session, which PostgreSQL has authenticated. actor, selection and operation are the values
-- that the program has set as gw.actor, gw.selection and gw.operation: the user of the program, the conditions that
-- selected the jobs, and the operation of which the act is a step. jobs is the number of jobs of all steps, job_ids are
-- the first hundred jobs of the first step.
-- person: the actor or the role. only_act: the act. job_id: one of job_ids. since, until: at in [since, until).
-- Raises GWILM (max_rows is negative).
create or replace function {{.schema}}.list_audit(
  below_id bigint      default null,
  max_rows integer     default 100,
  person   text        default null,
  only_act text        default null,
  job_id   bigint      default null,
  since    timestamptz default null,
  until    timestamptz default null
)
  returns table (
    id        bigint,
    at        timestamptz,
    ended_at  timestamptz,
    act       text,
    jobs      bigint,
    subject   text,
    job_ids   bigint[],
    role      text,
    actor     text,
    selection text,
    operation text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  return query
  select a.id, a.at, a.ended_at, a.act, a.jobs, a.subject, a.job_ids, a.role, a.actor, a.selection, a.operation
    from {{.schema}}._gw_audit as a
   where (below_id is null or a.id < below_id)
     and (person is null or a.actor = person or a.role = person)
     and (only_act is null or a.act = only_act)
     and (list_audit.job_id is null or list_audit.job_id = any (a.job_ids))
     and (since is null or a.at >= since)
     and (until is null or a.at < until)
   order by a.id desc
   limit max_rows;
end;
$$;

comment on function {{.schema}}.list_audit(bigint, integer, text, text, bigint, timestamptz, timestamptz) is
  'Returns what operators did with jobs, workers, settings, recurring jobs and limits, latest first: when, which act, on how many jobs, by which role, and, if the program has set them, by which user (gw.actor), with which conditions (gw.selection) and as steps of which operation (gw.operation). below_id: only lower ids; person: only of this actor or role; only_act: only this act; job_id: only on this job, as far as it is among job_ids.';
