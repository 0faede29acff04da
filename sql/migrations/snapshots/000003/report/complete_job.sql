-- Completes a job: deletes its row and frees its queue, if the claim holds no other job of it.
-- Acts only while the worker holds the job (by this lease, if one is given). Returns whether it did.
-- Locks: the job row, then its queue row.
-- result is kept if expect_result asked for it, or if the task keeps results; otherwise it is ignored.
-- Raises GWWOB if job_id is null.
create or replace function {{.schema}}.complete_job(
  worker_id text,
  job_id    bigint,
  lease     bigint default null,
  result    json   default null
)
  returns boolean language sql set search_path = pg_catalog, pg_temp
as $$
  select count(*) > 0
    from {{.schema}}.complete_job_batch(worker_id, array[job_id], case when lease is not null then array[lease] end,
                                        case when result is not null then array[result] end)
$$;

comment on function {{.schema}}.complete_job(text, bigint, bigint, json) is
  'Completes a job: deletes it and frees its queue. Acts only while the worker holds the job (by this lease, if one is given) and returns whether it did. result: kept where it was asked for; see expect_result() and keep_task().';
