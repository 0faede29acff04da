-- For workers, with each heartbeat: returns whether a limit with a rate may apply to jobs of this worker's tasks. A
-- limit counts the claim of a job as its start, so such a worker claims no job that would have to wait for a handler.
create or replace function {{.schema}}._gw_has_rate(worker_id text)
  returns boolean language sql stable set search_path = pg_catalog, pg_temp
as $$
  select pg_relation_size('{{ replace "'" "''" .schema }}._gw_limits'::regclass) > 0
         and exists (select
                       from {{.schema}}._gw_workers as w
                       join {{.schema}}._gw_limits as i on i.tasks is null or w.tasks = '{}' or i.tasks && w.tasks
                      where w.id = worker_id
                        and (i.rate is not null or exists (select from {{.schema}}._gw_gates as g where g.limit_id = i.id and g.rate is not null)))
$$;

comment on function {{.schema}}._gw_has_rate(text) is 'Internal: for workers, with each heartbeat: returns whether a limit with a rate may apply to jobs of this worker''s tasks.';
