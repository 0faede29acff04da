-- Adds a job unless a call under the same key has added one less than the interval within ago. Returns the id of the
-- new job, or of the job of that first call, and its state: 'gone' if it has completed or was removed. is_new: this
-- call has added it. The job has this key, so add_job() and remove_job() change it while it exists. The first call
-- counts even if its job has ended, was replaced or has lost its key. After its interval, the next call adds a job as
-- add_job() does. A call that is rolled back does not count; other calls under the same key wait for its end.
-- Locks: as _gw_hold_keyed_call, then as add_job. A call that adds nothing locks nothing.
-- Raises GWOKY (no key), GWOIV (interval), and what add_job raises.
create or replace function {{.schema}}.add_job_once(
  task         text,
  payload      json        default null,
  key          text        default null,
  within       interval    default '1 day',
  queue_name   text        default null,
  run_at       timestamptz default null,
  max_attempts integer     default null,
  priority     integer     default null,
  flags        text[]      default null
)
  returns table (id bigint, state text, due_at timestamptz, revision integer, is_new boolean)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  held {{.schema}}._gw_keyed_calls;
begin
  perform {{.schema}}._gw_check_interval('within', within, false);
  select c.* into held
    from {{.schema}}._gw_keyed_calls as c
   where c.kind = 'once' and c.key = add_job_once.key;
  if (held.kept_until > clock_timestamp()) is not true then
    held := {{.schema}}._gw_hold_keyed_call('once', task, key, queue_name, max_attempts, priority, flags);
    if held.job_id is null or held.kept_until <= clock_timestamp() then
      held.began_at := clock_timestamp();
      held.kept_until := held.began_at + within;
      return query
      select a.*
        from {{.schema}}._gw_add_held_job(
               held, row(task, payload, queue_name, run_at, max_attempts, key, priority, flags)::{{.schema}}.job_spec, false) as a;
      return;
    end if;
  end if;
  return query
  select held.job_id,
         case when j.id is null then 'gone' else {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) end,
         j.run_at, j.revision, false
    from (select held.job_id as id) as c
    left join {{.schema}}._private_jobs as j on j.id = c.id;
end;
$$;

comment on function {{.schema}}.add_job_once(text, json, text, interval, text, timestamptz, integer, integer, text[]) is
  'Adds a job unless a call under the same key has added one within the interval, and returns the new or the first job: its id and state. state: gone if the first job has completed or was removed. due_at: its run_at, null if it is gone. is_new: whether this call has added it. The first call counts even if its job has ended, was replaced or has lost its key. within: more than 0, default 1 day. The other arguments are those of add_job().';
