-- What somebody has changed or lost by hand, and what a clock that was ahead has left, as far as repair() mends it.
-- what: the table. lost: what is missing or wrong there, as the end of a sentence. Read-only, without locks.
create or replace function {{.schema}}._gw_damage()
  returns table (what text, lost text, rows bigint) language plpgsql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
begin
  return query
  select d.what, d.lost, d.rows
    from (select '_gw_turns' as what, 'rows of work for the whole fleet are missing' as lost, 4 - count(*) as rows
            from {{.schema}}._gw_turns as t where t.name in ('stale_sweep', 'recovery', 'sample', 'tidy')
          union all
          select '_gw_ended', 'partitions are missing, so ends of jobs are not recorded',
                 3 - count(*) from pg_inherits as i where i.inhparent = to_regclass('{{ replace "'" "''" .schema }}._gw_ended')
          union all
          select '_gw_limit_changes', 'the row is missing, so limits and pauses have no effect, and their jobs wait', 1
           where pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) = 0
             and (exists (select from {{.schema}}._gw_limits) or exists (select from {{.schema}}._gw_pauses)
                  or exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = -1)
                  or exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id <= -16))
          union all
          select '_private_job_queues', 'rows of queues are missing, so their jobs wait', count(*)
            from {{.schema}}._gw_lost_queues() as q
          union all
          select '_private_job_queues', 'queues are locked by a pause that does not exist, so their jobs wait', count(*)
            from {{.schema}}._private_job_queues as q
           where q.locked_by = 'pause' and not exists (select from {{.schema}}._gw_pauses as p where p.queue_name = q.queue_name)
          union all
          select '_private_jobs', 'jobs are held for a reason that does not exist', count(*)
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id between -15 and 0 and j.job_queue_id <> -1
             and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = j.id)
          union all
          select '_gw_gates', 'gates of lanes are missing, so their jobs wait', count(*)
            from {{.schema}}._gw_lanes as l
           where exists (select from unnest(l.gates) as g (id)
                          where not exists (select from {{.schema}}._gw_gates as o where o.id = g.id))
             and exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = l.id)
          union all
          select '_private_known_crontabs', 'recurring jobs last ran in the future, so they do not run', count(*)
            from {{.schema}}._gw_future_crons() as c
          union all
          select 'migrations', 'rows are missing, so Graphile Worker would migrate again', 20 - count(*)
            from {{.schema}}.migrations as m where m.id between 1 and 20) as d
   where d.rows > 0;
end;
$$;

-- The ids of waiting jobs' queues that have no row.
create or replace function {{.schema}}._gw_lost_queues()
  returns table (id integer) language sql stable set search_path = pg_catalog, pg_temp
as $$
  select distinct j.job_queue_id
    from {{.schema}}._private_jobs as j
   where j.is_available and j.job_queue_id > 0
     and not exists (select from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id)
$$;

-- Recurring jobs that last ran, or begin, in the future: the clock of a server was ahead. A clock may differ by a
-- minute.
create or replace function {{.schema}}._gw_future_crons(at timestamptz default clock_timestamp())
  returns table (identifier text, future timestamptz) language sql stable set search_path = pg_catalog, pg_temp
as $$
  select k.identifier, greatest(k.last_execution, s.active_since)
    from {{.schema}}._private_known_crontabs as k
    left join {{.schema}}._gw_schedules as s on s.identifier = k.identifier
   where greatest(k.last_execution, s.active_since) > at + interval '1 minute'
$$;

-- Sets these recurring jobs back that last ran, or begin, in the future, so that they run from now on. Locks: their
-- rows.
create or replace function {{.schema}}._gw_set_back_crons(identifiers text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update {{.schema}}._private_known_crontabs as k
     set last_execution = date_trunc('minute', clock_timestamp() at time zone 'UTC') at time zone 'UTC',
         known_since    = least(k.known_since, clock_timestamp())
   where k.identifier = any (identifiers) and k.last_execution > clock_timestamp() + interval '1 minute';
  update {{.schema}}._gw_schedules as s
     set active_since = clock_timestamp()
   where s.identifier = any (identifiers) and s.active_since > clock_timestamp() + interval '1 minute';
end;
$$;

-- Restores rows and partitions of the schema that its functions presume and somebody has deleted, and sets back times
-- that a clock which was ahead has left in recurring jobs. A queue whose row is lost gets a new name, 'restored queue'
-- and its number; its jobs stay serial. Returns what was lost, no row if nothing was. gw-migrate repair calls it.
-- Locks: what set_limit locks, if gates are missing; the rows that it changes.
-- Raises GWLHB, 40001 as set_limit.
create or replace function {{.schema}}.repair()
  returns table (what text, lost text, rows bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  found_damage constant jsonb := (select jsonb_object_agg(d.what || ': ' || d.lost, d.rows) from {{.schema}}._gw_damage() as d);
begin
  return query select d.what, d.lost, d.rows from {{.schema}}._gw_damage() as d;
  if found_damage is null then
    return;
  end if;
  perform {{.schema}}._gw_new_turn(t.name) from unnest(array['stale_sweep', 'recovery', 'sample', 'tidy']) as t (name);
  for slot in 0..2 loop
    if to_regclass('{{ replace "'" "''" .schema }}._gw_ended_' || slot) is null then
      execute 'create table {{ replace "'" "''" .schema }}._gw_ended_' || slot
              || ' partition of {{ replace "'" "''" .schema }}._gw_ended for values in (' || slot || ')';
      execute 'alter table {{ replace "'" "''" .schema }}._gw_ended_' || slot || ' enable row level security';
    end if;
  end loop;
  insert into {{.schema}}.migrations (id, breaking)
  select r.id, r.id in (1, 3, 11, 13, 14, 16, 19) from generate_series(1, 20) as r (id)
      on conflict do nothing;
  insert into {{.schema}}._private_job_queues (id, queue_name) overriding system value
  select q.id, 'restored queue ' || q.id from {{.schema}}._gw_lost_queues() as q
      on conflict do nothing;
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
   where q.locked_by = 'pause' and not exists (select from {{.schema}}._gw_pauses as p where p.queue_name = q.queue_name);
  update {{.schema}}._private_jobs as j
     set job_queue_id = null
   where j.is_available and j.job_queue_id between -15 and 0 and j.job_queue_id <> -1
     and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = j.id);
  perform {{.schema}}._gw_set_back_crons(array(select c.identifier from {{.schema}}._gw_future_crons() as c));
  if exists (select from jsonb_object_keys(found_damage) as k (name) where k.name ~ '^_gw_(gates|limit_changes)') then
    -- All jobs of lanes become incoming again, as after a change of the limits.
    perform {{.schema}}._gw_change_limits();
    perform {{.schema}}._gw_lock_limits(null);
    update {{.schema}}._gw_limits as i set generation = nextval('{{ replace "'" "''" .schema }}._gw_limit_generations');
    perform {{.schema}}._gw_settle(null);
  end if;
  perform {{.schema}}._gw_record_act('repair', 0, left(found_damage::text, 1000));
  perform {{.schema}}._gw_wake(1);
end;
$$;

comment on function {{.schema}}.repair() is
  'Restores rows and partitions of the schema that were deleted by hand and that its functions presume, and lets recurring jobs run that last ran in the future. Returns what was lost; no row: nothing was.';
