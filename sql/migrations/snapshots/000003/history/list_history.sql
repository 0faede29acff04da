-- Returns recorded attempts and ends of jobs that match all given conditions, latest first, without payloads and
-- results. task, job_outcome, worker, job_key: the value is the same. failures: only failed, permanently_failed and
-- recovered ones. since, until: ended_at in [since, until).
-- To continue after a row, pass its ended_at as before_at and its job_id as before_id.
-- Without a key, the function reads what ended in growing spans of time before until, so rare records are searched in
-- all of the time.
-- Locks: the tables of the history, in access share mode.
-- Raises GWILM (max_rows is negative).
create or replace function {{.schema}}.list_history(
  task      text        default null,
  job_outcome text      default null,
  worker    text        default null,
  job_key   text        default null,
  failures  boolean     default false,
  since     timestamptz default null,
  until     timestamptz default null,
  before_at timestamptz default null,
  before_id bigint      default null,
  max_rows  integer     default 100
)
  returns table (
    job_id          bigint,
    task_identifier text,
    attempt         smallint,
    max_attempts    smallint,
    outcome         text,
    worker_id       text,
    place           text,
    key             text,
    started_at      timestamptz,
    ended_at        timestamptz,
    run_at          timestamptz,
    created_at      timestamptz,
    error           text
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
#variable_conflict use_column
declare
  wanted    constant text[]      := case when job_outcome is not null then array[job_outcome]
                                         when failures then array['failed', 'permanently_failed', 'recovered'] end;
  high      timestamptz          := least(coalesce(until, 'infinity'), before_at + interval '1 microsecond', clock_timestamp() + interval '1 day');
  span      interval             := interval '10 seconds';
  low       timestamptz;
  first     timestamptz;
  left_over integer              := max_rows;
  found_now bigint;
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  lock table {{.schema}}._gw_ended in access share mode;
  first := greatest(since, least(
    (select min(e.ended_at) from {{.schema}}._gw_ended as e),
    (select min(h.last_ended_at) from {{.schema}}._gw_history as h) - interval '1 hour'));
  -- Begin at the latest record.
  high := least(high, greatest((select max(e.ended_at) from {{.schema}}._gw_ended as e),
                               (select max(h.last_ended_at) from {{.schema}}._gw_history as h)) + interval '1 microsecond');
  while left_over > 0 and high > first loop
    low := case when job_key is not null then first else greatest(first, high - span) end;
    return query
    select l.job_id, l.task, l.attempt, l.max_attempts, l.outcome, l.worker_id, l.place, l.key, l.started_at, l.ended_at,
           l.run_at, l.created_at, l.detail
      from (select r.*
              from {{.schema}}._gw_ended as e
             cross join lateral {{.schema}}._gw_recent_lines(e) as r
             where e.ended_at >= low and e.ended_at < high
               and (list_history.task is null or e.task = list_history.task)
               and (job_key is null or e.key = job_key)
            union all
            select r.*
              from {{.schema}}._gw_history as h
             cross join lateral {{.schema}}._gw_packed_lines(h) as r
             where h.last_ended_at >= low and h.first_ended_at < high
               and (list_history.task is null or h.task = list_history.task)
               and (job_key is null or h.keys @> array[job_key])
               and (wanted is null or h.counts ?| wanted)
               and r.ended_at >= low and r.ended_at < high) as l
     where (wanted is null or l.outcome = any (wanted))
       and (worker is null or l.worker_id = worker)
       and (job_key is null or l.key = job_key)
       and (before_at is null or l.ended_at < before_at or l.ended_at = before_at and l.job_id < before_id)
     order by l.ended_at desc, l.job_id desc, l.attempt desc
     limit left_over;
    get diagnostics found_now = row_count;
    left_over := left_over - found_now;
    high := low;
    span := span * 4;
  end loop;
end;
$$;

comment on function {{.schema}}.list_history(text, text, text, text, boolean, timestamptz, timestamptz, timestamptz, bigint, integer) is
  'Returns recorded attempts and ends of jobs of kept tasks that match all given conditions, latest first. failures: only failed, permanently_failed and recovered ones. since, until: by the time of the end. To continue after a row, pass its ended_at as before_at and its job_id as before_id.';
