-- Returns a row for each of these worker ids, known or not: the jobs and queues that it holds. The function reads all
-- jobs, as force_unlock_workers does.
create or replace function {{.schema}}.held_by_workers(worker_ids text[])
  returns table (
    worker_id     text,
    jobs          bigint,
    queues        bigint,
    is_registered boolean,
    last_seen_at  timestamptz
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with held as (
    select j.locked_by, count(*) as jobs
      from {{.schema}}._private_jobs as j
     where j.locked_by = any (worker_ids)
     group by j.locked_by
  )
  select i.id, coalesce(h.jobs, 0),
         (select count(*) from {{.schema}}._private_job_queues as q where q.locked_by = i.id and i.id <> 'pause'),
         w.id is not null, w.last_seen_at
    from (select distinct u.id from unnest(worker_ids) as u (id) where u.id is not null) as i
    left join held as h on h.locked_by = i.id
    left join {{.schema}}._gw_workers as w on w.id = i.id
   order by i.id;
end;
$$;

comment on function {{.schema}}.held_by_workers(text[]) is
  'Returns how many jobs and queues each of these workers holds; whether it is registered, and when it was last seen.';
