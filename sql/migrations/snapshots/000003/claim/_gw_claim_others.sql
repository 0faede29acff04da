-- Searches for the jobs of get_job_batch in the cases that its own query does not cover. While there are limits, pauses,
-- incoming jobs or lanes, the claim under limits does it, otherwise the one without. A worker that runs a suspect alone
-- gets none. places: the ctids of the jobs, which are locked. job_ids: of jobs that have been started, instead.
-- queue_ids, queue_names: of the locked jobs, in the order of the ids.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_claim_others(
  claim {{.schema}}._gw_claim, out places tid[], out job_ids bigint[], out queue_ids integer[], out queue_names text[])
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  if exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) and {{.schema}}._gw_runs_alone(claim.worker_id) then
    return;
  -- The order makes _gw_queue_heads the index.
  elsif {{.schema}}._gw_has_limits()
        or (select j.job_queue_id from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id >= -1
             order by j.job_queue_id
             limit 1) = -1
        or (select j.job_queue_id from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id <= -16
             order by j.job_queue_id
             limit 1) is not null then
    perform {{.schema}}._gw_end_queue_pauses();
    claim.task_ids := {{.schema}}._gw_served_tasks(claim);
    select l.places, l.job_ids into places, job_ids from {{.schema}}._gw_claim_limited(claim) as l;
  else
    places := {{.schema}}._gw_claim_unlimited(claim);
  end if;
  if places is not null then
    select array_agg(q.id order by q.id), array_agg(q.queue_name order by q.id) into queue_ids, queue_names
      from (select distinct j.job_queue_id from {{.schema}}._private_jobs as j where j.ctid = any (places)) as j
     cross join lateral (
           select q.id, q.queue_name from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id offset 0) as q;
  end if;
end;
$$;

comment on function {{.schema}}._gw_claim_others({{.schema}}._gw_claim) is 'Internal: searches for the jobs of get_job_batch in the cases that its own query does not cover.';
