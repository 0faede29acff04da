-- For a worker that holds jobs while heartbeat() reports that a suspect is waiting for get_job_alone. Returns how long
-- the worker should claim nothing else, so that it may become idle and claim the suspect; null if the worker need not.
-- Only one worker at a time makes room, for one heartbeat interval, and only if there is a suspect that it may take. A
-- worker that still holds jobs after this time continues, and get_job_alone then returns the suspect with beside. For a
-- strict suspect a worker makes room once in 12 heartbeat intervals.
-- The arguments are those of get_job_alone.
-- Locks: suspects by id; skips locked ones.
-- Raises GWWFF (forbidden flags of tasks).
create or replace function {{.schema}}.make_room(
  task_identifiers     text[]      default null,
  forbidden_flags      text[]      default null,
  now                  timestamptz default now(),
  task_forbidden_flags json        default null
)
  returns interval
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  beat_every    constant interval := {{.schema}}._gw_beat_every();
  task_ids      integer[];
  flagged_tasks integer[];
  task_flags    text[];
begin
  if exists (select from {{.schema}}._gw_suspects as s where s.room_at > clock_timestamp() - beat_every) then
    return null;
  end if;
  if task_identifiers is not null then
    task_ids := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers));
  end if;
  if task_forbidden_flags is not null then
    select f.task_ids, f.flagged_tasks, f.task_flags
      into task_ids, flagged_tasks, task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, task_ids) as f;
  end if;
  update {{.schema}}._gw_suspects as s
     set room_at = clock_timestamp()
   where s.job_id in (
           select l.job_id
             from {{.schema}}._gw_suspects as l
             join {{.schema}}._gw_waiting_suspects(task_ids, forbidden_flags, make_room.now, flagged_tasks, task_flags) as w
               on w.id = l.job_id
            where (w.room_at is null or w.strict and w.room_at < clock_timestamp() - 12 * beat_every)
              and ((w.job_queue_id > 0) is not true
                   or (select q.locked_at is null from {{.schema}}._private_job_queues as q where q.id = w.job_queue_id))
            order by l.job_id
              for update of l skip locked);
  return case when found then beat_every end;
end;
$$;

comment on function {{.schema}}.make_room(text[], text[], timestamptz, json) is
  'Returns how long a worker that holds jobs should claim nothing else, so that it may become idle and claim the suspect that heartbeat reports; null if it need not. The arguments are those of get_job_alone.';
