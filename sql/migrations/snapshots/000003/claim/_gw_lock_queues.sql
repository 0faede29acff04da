-- Locks the free queues whose head jobs belong in the next batch, and returns their ids in the order of those heads.
-- Jobs with and without a queue share one order: plain are the places of the first jobs without a queue. If there is
-- none, up to queue_batch jobs of each queue count for the batch, and locking ends when it is full. Otherwise only the
-- head of each queue counts. queue_ids: see _gw_front_queues.
-- Locks: these queues, without waiting.
create or replace function {{.schema}}._gw_lock_queues(
  claim {{.schema}}._gw_claim, plain {{.schema}}._gw_place[], queue_ids integer[], snapshot txid_snapshot)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  heads  {{.schema}}._gw_place[];
  wanted bigint;
begin
  claim.queue_batch := case when plain = '{}' then claim.queue_batch else 1 end;
  heads := {{.schema}}._gw_front_queues(claim, plain[claim.batch_size], queue_ids, snapshot);
  wanted := claim.batch_size;
  if plain <> '{}' then
    select count(*) filter (where r.rank <= claim.batch_size and r.queue_id is not null) into wanted
      from (select p.queue_id, row_number() over (order by p.priority, p.run_at, p.id) as rank from unnest(heads || plain) as p) as r;
  end if;
  return array(
    select e.id
      from (select l.id, l.place
              from (select q.id, h.place
                      from (select h.queue_id, h.place
                              from unnest(heads) with ordinality as h (priority, run_at, id, queue_id, place)
                             order by h.place) as h
                     cross join lateral (
                            select q.id
                              from {{.schema}}._private_job_queues as q
                             where q.id = h.queue_id and q.locked_at is null
                               for no key update skip locked) as q
                     limit wanted) as l
             cross join lateral {{.schema}}._gw_first_in_queue(l.id, claim, claim.queue_batch) as j
             limit claim.batch_size) as e
     group by e.id, e.place
     order by e.place);
end;
$$;

comment on function {{.schema}}._gw_lock_queues({{.schema}}._gw_claim, {{.schema}}._gw_place[], integer[], txid_snapshot) is 'Internal: locks the free queues whose head jobs belong in the next batch, and returns their ids in the order of those heads.';
