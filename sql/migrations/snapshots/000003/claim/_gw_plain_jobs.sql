-- Finds the first jobs without a queue, from a place on, that a claim may take, up to room. It returns their places in
-- the order, or locks them and returns their ctids, and how many bytes their payloads have at most. It goes from
-- priority to priority, so it does not read future jobs of a more urgent one; beyond: after 500 priorities it has read
-- each job. reads: how much of the index it has read. from_place: null is the beginning. snapshot: see _gw_may_lock.
-- Locks: the jobs, without waiting.
create or replace function {{.schema}}._gw_plain_jobs(
  claim {{.schema}}._gw_claim, from_place {{.schema}}._gw_place, room integer, locks boolean, snapshot txid_snapshot,
  out plain {{.schema}}._gw_place[], out places tid[], out bytes bigint, out beyond boolean, out reads bigint)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  first {{.schema}}._gw_place := coalesce(from_place, row(-32768, '-infinity', 0, null)::{{.schema}}._gw_place);
  last  integer; -- priority
  -- Of transactions that had not ended at the snapshot: those before its end, and the ages of the others, which are
  -- older than this one. Rows that these have locked are many in a burst, and _gw_may_lock calls a function for each.
  open  xid[] := case when room > 20 and locks then array(select (x.txid & 4294967295)::text::xid from txid_snapshot_xip(snapshot) as x (txid)) end;
  most  integer := age((txid_snapshot_xmax(snapshot) & 4294967295)::text::xid);
  own   integer := coalesce(age((txid_current_if_assigned() & 4294967295)::text::xid), -2147483648);
begin
  plain := array[]::{{.schema}}._gw_place[];
  places := array[]::tid[];
  bytes := 0;
  reads := {{.schema}}._gw_index_reads();
  for step in 1 .. 501 loop
    beyond := step > 500;
    select j.priority, j.run_at, j.id, null::integer into first
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
     order by j.priority, j.run_at, j.id
     limit 1;
    exit when not found;
    last := case when beyond then 32767 when first.run_at <= claim.due then first.priority end;
    if last is not null and locks then
      select places || coalesce(array_agg(l.ctid), '{}'), _gw_plain_jobs.bytes + coalesce(sum(l.bytes), 0)
        into places, bytes
        from (select j.ctid, case when claim.batch_size = 1 then 0 else {{.schema}}._gw_most_bytes(j.payload) end as bytes
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
                 and j.priority <= last and (j.xmax = any (open) or age(j.xmax) > own and age(j.xmax) <= most) is not true
                 and {{.schema}}._gw_may_lock(j.xmax, snapshot)
                 and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
               order by j.priority, j.run_at, j.id
               limit room - cardinality(places)
                 for update skip locked) as l;
    elsif last is not null then
      plain := plain || array(
        select row(j.priority, j.run_at, j.id, null)::{{.schema}}._gw_place
          from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (first.priority, first.run_at, first.id)
           and j.priority <= last and {{.schema}}._gw_may_lock(j.xmax, snapshot)
           and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
         order by j.priority, j.run_at, j.id
         limit room - cardinality(plain));
    end if;
    exit when cardinality(plain) + cardinality(places) >= room or first.priority = 32767;
    first := row(first.priority + 1, '-infinity', 0, null);
  end loop;
  reads := {{.schema}}._gw_index_reads() - reads;
end;
$$;

comment on function {{.schema}}._gw_plain_jobs({{.schema}}._gw_claim, {{.schema}}._gw_place, integer, boolean, txid_snapshot) is 'Internal: finds the first jobs without a queue, from a place on, that a claim may take, up to room.';
