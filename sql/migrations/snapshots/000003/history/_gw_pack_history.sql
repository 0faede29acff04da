-- Moves the records of ended jobs from the slots of _gw_ended to _gw_history, where a row has up to a thousand jobs,
-- sorted by id, in about a tenth of the size; creates the partitions of _gw_history that this needs, and drops those
-- whose time is over. Workers call it by tidy. A slot is moved from ten minutes after its first record on.
-- If nobody calls it, records stay in the slots, and nothing fails. Security definer: only the owner may create,
-- truncate and drop partitions.
-- Locks: a slot that is moved, in exclusive mode, so that no record is missed; partitions that are created or dropped.
-- It waits at most a tenth of a second for each, and otherwise leaves it for the next call.
create or replace function {{.schema}}._gw_pack_history()
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms'
  set enable_nestloop = on set jit = off
as $$
declare
  full_slot  integer;
  spent     regclass;
begin
  for full_slot in select s from generate_series(0, 2) as s where s <> {{.schema}}._gw_slot_at(clock_timestamp()) loop
    continue when pg_relation_size(('{{ replace "'" "''" .schema }}._gw_ended_' || full_slot)::regclass) = 0;
    begin
      execute 'lock table {{ replace "'" "''" .schema }}._gw_ended_' || full_slot || ' in exclusive mode';
      perform {{.schema}}._gw_make_history(
        array(select distinct e.drop_on from {{.schema}}._gw_ended as e where e.slot = full_slot));
      perform {{.schema}}._gw_pack_slot(full_slot);
      execute 'truncate {{ replace "'" "''" .schema }}._gw_ended_' || full_slot;
    exception when lock_not_available or deadlock_detected then
      null;
    end;
  end loop;

  for spent in
    select c.oid::regclass
      from pg_inherits as i
      join pg_class as c on c.oid = i.inhrelid
     where i.inhparent = '{{ replace "'" "''" .schema }}._gw_history'::regclass
       and right(c.relname::text, 8) collate "C" <= to_char(now() at time zone 'UTC', 'YYYYMMDD')
  loop
    begin
      execute format('drop table %s', spent);
    exception when lock_not_available or deadlock_detected then
      null;
    end;
  end loop;
  -- A dump of an extension lacks the trigger.
  perform {{.schema}}._gw_watch_ends() where exists (select from {{.schema}}._gw_kept_tasks);
  delete from {{.schema}}._gw_expected as e where e.kept_until < now();
  delete from {{.schema}}._gw_long_attempts as a
   where not exists (select from {{.schema}}._private_jobs as j where j.id = a.job_id and j.locked_at = a.locked_at);
end;
$$;

comment on function {{.schema}}._gw_pack_history() is 'Internal: moves the records of ended jobs from the slots of _gw_ended to _gw_history, where a row has up to a thousand jobs, sorted by id, in about a tenth of the size; creates the partitions of _gw_history that this needs, and drops those whose time is over.';

-- Creates the partitions of _gw_history for these days that do not exist.
create or replace function {{.schema}}._gw_make_history(days date[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  own  constant text := '{{ replace "'" "''" .schema }}'; -- no part of a format: a name may have a %
  day  date;
  name text;
begin
  foreach day in array days loop
    name := '_gw_history_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass('{{ replace "'" "''" .schema }}.' || name) is not null;
    -- Attaching a table does not lock out readers and writers of the other partitions.
    execute format('create table %1$s.%2$s (like %1$s._gw_history including all)', own, name);
    execute format('alter table %s.%s enable row level security', own, name);
    execute format('comment on table %s.%s is %L', own, name,
                   'The records of ended jobs that are dropped on ' || day || '.');
    execute format('alter table %1$s._gw_history attach partition %1$s.%2$s for values in (%3$L)', own, name, day);
  end loop;
end;
$$;

comment on function {{.schema}}._gw_make_history(date[]) is 'Internal: creates the partitions of _gw_history for these days that do not exist.';

-- Copies the records of a slot of _gw_ended to _gw_history: those of one hour in a row, however late the call comes.
-- Performance: the records are sorted before they are grouped, because each array_agg with an order of its own would
-- sort them again.
create or replace function {{.schema}}._gw_pack_slot(slot integer)
  returns void language sql set search_path = pg_catalog, pg_temp set enable_hashagg = off set jit = off
as $$
  with line as (
    select e.drop_on, l.*, l.task collate "C" as name, l.job_id >> 13 as block, date_trunc('hour', l.ended_at) as hour,
           row_number() over (partition by l.job_id >> 13, l.task collate "C", date_trunc('hour', l.ended_at),
                              e.drop_on, e.max_attempts
                              order by l.job_id, l.ended_at) / 1000 as part,
           -- A large payload or result has a row of its own.
           case when pg_column_size(l.payload) > 4000 or pg_column_size(l.result) > 4000 then l.job_id end as alone
      from {{.schema}}._gw_ended as e
     cross join lateral {{.schema}}._gw_recent_lines(e) as l
     where e.slot = _gw_pack_slot.slot
  ), pack as (
    select p.drop_on, p.name, p.max_attempts, min(p.job_id) as first_id, max(p.job_id) as last_id,
           min(p.ended_at) as first_ended_at, max(p.ended_at) as last_ended_at, count(*) as lines,
           array_agg(p.job_id) as job_ids,
           array_agg(p.ended_at) as ended_at,
           array_agg({{.schema}}._gw_seconds(p.ended_at, p.started_at)) as ran,
           array_agg({{.schema}}._gw_seconds(coalesce(p.started_at, p.ended_at), p.run_at)) as waited,
           array_agg({{.schema}}._gw_seconds(p.run_at, p.created_at)) as aged,
           bool_or(p.run_at <> p.created_at) as has_aged,
           array_agg(p.attempt) as attempts, count(p.attempt) as attempted, min(p.attempt) as attempt,
           max(p.attempt) as last_attempt,
           array_agg(p.outcome) as outcomes, min(p.outcome) as outcome, max(p.outcome) as last_outcome,
           array_agg(p.worker_id) as worker_ids, count(p.worker_id) as workers, min(p.worker_id) as worker_id,
           max(p.worker_id) as last_worker_id,
           array_agg(p.place) as places, count(p.place) as placed, min(p.place) as place, max(p.place) as last_place,
           array_agg(p.key) as keys, count(p.key) as keyed,
           array_agg(p.detail) as details, count(p.detail) as detailed,
           array_agg(p.payload) as payloads, count(p.payload) as with_payload,
           array_agg(p.result) as results, count(p.result) as with_result
      from (select l.*
              from line as l
             order by l.block, l.name, l.hour, l.drop_on, l.max_attempts, l.part, l.alone, l.job_id, l.ended_at) as p
     group by p.block, p.name, p.hour, p.drop_on, p.max_attempts, p.part, p.alone
  )
  insert into {{.schema}}._gw_history
    (drop_on, task, max_attempts, first_id, last_id, first_ended_at, last_ended_at, attempt_count, counts, id_offsets,
     ended_after, ran, waited, aged, attempt, attempts, outcome, outcomes, worker_id, worker_ids, place, places, keys,
     details, payloads, results)
  select p.drop_on, p.name, p.max_attempts, p.first_id, p.last_id, p.first_ended_at, p.last_ended_at, p.lines,
         case when p.outcome = p.last_outcome then jsonb_build_object(p.outcome, p.lines)
              else (select jsonb_object_agg(c.outcome, c.number)
                      from (select o.outcome, count(*) as number
                              from unnest(p.outcomes) as o (outcome)
                             group by o.outcome) as c) end,
         array(select (i.id - p.first_id)::smallint from unnest(p.job_ids) as i (id)),
         array(select {{.schema}}._gw_seconds(e.ended_at, p.first_ended_at) from unnest(p.ended_at) as e (ended_at)),
         p.ran, p.waited,
         case when p.has_aged then p.aged end,
         case when p.attempted = p.lines and p.attempt = p.last_attempt then p.attempt end,
         case when p.attempted > 0 and (p.attempted < p.lines or p.attempt < p.last_attempt) then p.attempts end,
         case when p.outcome = p.last_outcome then p.outcome end,
         case when p.outcome < p.last_outcome then p.outcomes end,
         case when p.workers = p.lines and p.worker_id = p.last_worker_id then p.worker_id end,
         case when p.workers > 0 and (p.workers < p.lines or p.worker_id < p.last_worker_id) then p.worker_ids end,
         case when p.placed = p.lines and p.place = p.last_place then p.place end,
         case when p.placed > 0 and (p.placed < p.lines or p.place < p.last_place) then p.places end,
         case when p.keyed > 0 then p.keys end,
         case when p.detailed > 0 then p.details end,
         case when p.with_payload > 0 then p.payloads end,
         case when p.with_result > 0 then p.results end
    from pack as p
$$;

comment on function {{.schema}}._gw_pack_slot(integer) is 'Internal: copies the records of a slot of _gw_ended to _gw_history: those of one hour in a row, however late the call comes.';
