-- What complete, fail and return have in common.

-- Raises GWWOB unless ids are given once each and the leases, if any, stand one beside each id.
create or replace function {{.schema}}._gw_check_outcomes(
  job_ids bigint[],
  leases  bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if leases is not null and cardinality(leases) <> cardinality(job_ids) then
    raise exception 'There must be one lease for each job: % job ids, % leases.', cardinality(job_ids), cardinality(leases)
      using errcode = 'GWWOB';
  elsif array_position(job_ids, null) is not null then
    raise exception 'A job id must not be null.' using errcode = 'GWWOB';
  elsif (select count(distinct u.id) from unnest(job_ids) as u (id)) < cardinality(job_ids) then
    raise exception 'A job id must not be repeated in one call.' using errcode = 'GWWOB';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_outcomes(bigint[], bigint[]) is
  'Internal: raises GWWOB unless ids are given once each, with one lease beside each id or none at all.';

-- Unlocks the queues that this worker holds among these. A trigger tells sleepers when a job waits there.
-- Locks: queue rows by id; their keys stay free, for producers above READ COMMITTED hold those (see _gw_hold_names).
create or replace function {{.schema}}._gw_free_queues(
  worker_id text,
  queue_ids integer[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
begin
  perform from {{.schema}}._private_job_queues as q
    where q.id = any (queue_ids) and q.locked_by = worker_id
    order by q.id for no key update;
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
   where q.id = any (queue_ids) and q.locked_by = worker_id;
end;
$$;

comment on function {{.schema}}._gw_free_queues(text, integer[]) is
  'Internal: unlocks the queues that this worker holds among these.';
