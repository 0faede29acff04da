-- A claim may hold more jobs of a group than its worker runs at once: a streak. The worker runs width of them, in the order of
-- claims, and the others wait in it; so a streak uses no more slots than width. The row in _gw_streaks is needed only as long as
-- more jobs are left than that, and nothing has to delete it: without it, each job uses a slot.

-- Returns how many jobs of a group with these lanes a claim may hold for each slot, which are streak at most. It is one if the
-- limits have a rate, because each claimed job counts as started, or are strict, because each would keep a slot if the worker died.
create or replace function {{.schema}}._gw_of_slot(
  lanes  integer[],
  streak integer
)
  returns integer
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return case when exists (select
                             from {{.schema}}._gw_lanes as l
                             join {{.schema}}._gw_limits as i on i.id = l.limit_id
                            where l.id = any (lanes) and (l.rate is not null or i.rate is not null or i.strict is not null))
              then 1 else streak end;
end;
$$;

comment on function {{.schema}}._gw_of_slot(integer[], integer) is
  'Internal: returns how many jobs of a group with these lanes a claim may hold for each slot.';

-- Returns whether the worker has no more jobs of a streak.
create or replace function {{.schema}}._gw_is_spent(
  group_id  integer,
  locked_at timestamptz,
  locked_by text
)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  return not exists (select
                       from {{.schema}}._private_jobs as j
                      where not j.is_available and j.job_queue_id < 0
                        and case when j.locked_at is not null then j.job_queue_id else 0 end = _gw_is_spent.group_id
                        and j.locked_at = _gw_is_spent.locked_at and j.locked_by = _gw_is_spent.locked_by);
end;
$$;

comment on function {{.schema}}._gw_is_spent(integer, timestamptz, text) is
  'Internal: returns whether the worker has no more jobs of a streak.';

-- For claims: returns how many jobs of each streak run at once, by the group; null if this claim has no streak. It is a
-- function for the reason that _gw_queues_of_groups is one.
create or replace function {{.schema}}._gw_widths(
  places     tid[],
  claimed_at timestamptz,
  worker_id  text
)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return (select jsonb_object_agg(s.group_id, s.width)
            from {{.schema}}._gw_streaks as s
           where s.group_id = any (array(select j.job_queue_id from {{.schema}}._private_jobs as j where j.ctid = any (places)))
             and s.locked_at = claimed_at and s.locked_by = worker_id);
end;
$$;

comment on function {{.schema}}._gw_widths(tid[], timestamptz, text) is
  'Internal, for claims: returns how many jobs of each streak run at once, by the group.';
