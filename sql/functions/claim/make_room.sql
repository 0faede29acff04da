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
  returns interval language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set enable_bitmapscan = off set jit = off
as $$
declare
  beat_every constant interval := {{.schema}}._gw_beat_every();
  claim      {{.schema}}._gw_claim;
begin
  if exists (select from {{.schema}}._gw_suspects as s where s.room_at > clock_timestamp() - beat_every) then
    return null;
  end if;
  claim := {{.schema}}._gw_new_claim('room', task_identifiers, 1, forbidden_flags, make_room.now, task_forbidden_flags, null, 1);
  update {{.schema}}._gw_suspects as s
     set room_at = clock_timestamp()
   where s.job_id in (
           select l.job_id
             from {{.schema}}._gw_suspects as l
             join {{.schema}}._gw_waiting_suspects(claim) as w on w.id = l.job_id
            where w.room_at is null or w.strict and w.room_at < clock_timestamp() - 12 * beat_every
            order by l.job_id
              for update of l skip locked);
  return case when found then beat_every end;
end;
$$;

comment on function {{.schema}}.make_room(text[], text[], timestamptz, json) is
  'Returns how long a worker that holds jobs should claim nothing else, so that it may become idle and claim the suspect that heartbeat reports; null if it need not. The arguments are those of get_job_alone.';
