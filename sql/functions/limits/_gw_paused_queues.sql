-- A paused queue is locked like that of a running job, by 'pause' instead of a worker: so neither our workers nor
-- Node's take it, and it is as serial afterwards as before. Who pauses or resumes a queue first writes its row, then
-- the pause, and takes or frees the queue in a later statement (_gw_take_paused). Who frees a queue looks for a pause
-- in a statement that begins after it has locked the row. So one of both sees what the other has done.

-- Ends pauses of queues whose time is over, up to 100. Claims call it, because nobody else acts at that time. The
-- trigger of the queues notifies the workers.
-- Locks: the rows of the queues by id and of the pauses; skips locked ones.
create or replace function {{.schema}}._gw_end_queue_pauses()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from {{.schema}}._gw_pauses as p where p.queue_name is not null and p.until <= clock_timestamp()) then
    return;
  end if;
  with ended as materialized (
    select p.id as pause_id, q.id as queue_id
      from {{.schema}}._gw_pauses as p
      join {{.schema}}._private_job_queues as q on q.queue_name = p.queue_name
     where p.until <= clock_timestamp()
     order by q.id
     limit 100
       for no key update skip locked
  ), gone as (
    delete from {{.schema}}._gw_pauses as p where p.id = any (array(select e.pause_id from ended as e))
  )
  update {{.schema}}._private_job_queues as q
     set locked_by = null, locked_at = null
   where q.id = any (array(select e.queue_id from ended as e)) and q.locked_by = 'pause';
end;
$$;
