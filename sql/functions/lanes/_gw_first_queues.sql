create or replace function {{.schema}}._gw_first_queues(claim {{.schema}}._gw_claim) returns integer[] language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(select f.job_queue_id from (select j.job_queue_id, min(row_number) as n from (select j.job_queue_id, row_number() over (order by j.priority, j.run_at, j.id) from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id > 0 and j.run_at <= claim.due and j.task_id = any (claim.task_ids)) as j group by 1 order by 2) as f);
end $$;
comment on function {{.schema}}._gw_first_queues({{.schema}}._gw_claim) is 'Internal: tmp.';
