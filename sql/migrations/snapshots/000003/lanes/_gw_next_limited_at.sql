-- What a claim under limits has left is known only to itself: it has passed over a limit that another one held, or has
-- stopped at a bound; or it has looked at everything, and what waits is not for this worker. So it leaves that in the
-- setting gw.claim_left, with its time and tasks, because the session may serve several workers.

-- Notes whether a claim of these tasks has left work.
create or replace function {{.schema}}._gw_note_left_work(claim {{.schema}}._gw_claim, left_work boolean)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('gw.claim_left', format('%s %s %s',
    {{.schema}}._gw_lease(greatest(least(claim.due, claim.claimed_at), claim.claimed_at - interval '2 seconds')), -- due may be infinite
    hashtext(claim.task_ids::text), left_work), false);
end;
$$;

comment on function {{.schema}}._gw_note_left_work({{.schema}}._gw_claim, boolean) is 'Internal: notes whether a claim of these tasks has left work.';

-- Returns when to search again for jobs under limits of these tasks (all if null); null if nothing is known to become
-- due. If there is work now, the result is soon. The result may be too early, never too late.
create or replace function {{.schema}}._gw_next_limited_at(task_ids integer[])
  returns timestamptz language plpgsql volatile set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  looked_at timestamptz := clock_timestamp();
  served    integer[]   := coalesce(task_ids, array(select t.id from {{.schema}}._private_tasks as t));
  soon      constant timestamptz := looked_at + (0.002 + 0.01 * random()) * interval '1 second';
  limited   integer[];
  last      text[]      := regexp_match(current_setting('gw.claim_left', true), '^([0-9]{1,17}) (-?[0-9]{1,10}) (t|f)$');
  since     timestamptz;
begin
  if (last[2] = hashtext(served::text)::text
      and last[1]::bigint between {{.schema}}._gw_lease(looked_at) - 1000000 and {{.schema}}._gw_lease(looked_at)) is not true then
    last := null; -- not of these tasks and the last second
  elsif last[3] = 't' then
    return soon;
  end if;
  limited := {{.schema}}._gw_tasks_under_limits(served);
  if last is null and {{.schema}}._gw_limited_tasks(served, limited, looked_at, looked_at) is not null then
    return soon;
  end if;
  since := coalesce({{.schema}}._gw_locked_at(last[1]::bigint), looked_at); -- what has become due meanwhile is work
  return (
    select nullif(least(min(j.run_at), min(e.at), min(r.opens_at)), 'infinity')
      from unnest({{.schema}}._gw_limited_tasks(served, limited, looked_at)) as t
      left join lateral (
            select j.run_at
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = -1 and j.task_id = t.task_id and j.run_at > since and j.run_at < 'infinity'
             order by j.run_at
             limit 1) as j on true
      left join lateral (
            select e.at
              from {{.schema}}._gw_gate_ends as e
             where e.limit_id = any (t.limit_ids) and e.at > since
             order by e.at
             limit 1) as e on true
     cross join lateral {{.schema}}._gw_shared_room(t.limit_ids, since) as r);
end;
$$;

comment on function {{.schema}}._gw_next_limited_at(integer[]) is 'Internal: returns when to search again for jobs under limits of these tasks (all if null); null if nothing is known to become due.';
