-- The jobs of an item have the item's values, and their payload contains the time of the run.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.tick(item text)
  returns bigint
  language sql
as $$
  select (r.scheduled -> 0 ->> 'job_id')::bigint
    from run_cron(('[' || item || ']')::json, '2026-01-01 11:59Z', '2026-01-01 12:00Z') as r
$$;

create temporary table plain as select pg_temp.tick('{"task": "plain", "pattern": "* * * * *"}') as id;
select results_eq(
  $$ select j.payload::text, j.run_at, j.max_attempts::integer, j.priority::integer, j.key, j.flags, q.queue_name
       from _private_jobs as j
       left join _private_job_queues as q on q.id = j.job_queue_id
      where j.id = (select p.id from plain as p) $$,
  $$ values ('{"_cron":{"ts":"2026-01-01T12:00:00.000Z","backfilled":false}}', '2026-01-01 12:00Z'::timestamptz, 25, 0, null::text,
             null::jsonb, null::text) $$,
  'the job of an item without further values has the defaults');
create temporary table full_item as select pg_temp.tick('{"task": "full", "identifier": "id", "pattern": "* * * * *", "time_zone": "Asia/Tokyo",
              "payload": {"z": 1.50, "a": [ ], "_cron": 1, "é\"": "x\ny"}, "fill": 60, "max_attempts": 3, "queue_name": "q",
              "priority": -2, "job_key": "k", "job_key_mode": "replace", "flags": ["f"]}') as id;
select results_eq(
  $$ select j.payload::text, j.max_attempts::integer, j.priority::integer, j.key, j.flags, q.queue_name, t.identifier
       from _private_jobs as j
       join _private_job_queues as q on q.id = j.job_queue_id
       join _private_tasks as t on t.id = j.task_id
      where j.id = (select f.id from full_item as f) $$,
  $$ values (e'{"z":1.50,"a":[ ],"é\\"":"x\\ny","_cron":{"ts":"2026-01-01T12:00:00.000Z","backfilled":false}}', 3, -2, 'k',
             '{"f": true}'::jsonb, 'q', 'full') $$,
  'the job of an item has all its values; the payload keeps its order and its numbers');
select is((select identifier from _private_known_crontabs where last_execution is not null and identifier <> 'plain'), 'id',
          'an item is known by its identifier rather than by its task');
select is((select pg_temp.tick('{"task": "nulls", "pattern": "* * * * *", "payload": null, "flags": null, "fill": null}') is not null), true,
          'null values of an item are the defaults');
create temporary table backfilled as
select r.scheduled -> 0 as run
  from run_cron('[{"task": "full", "identifier": "id", "pattern": "* * * * *", "job_key": "k", "fill": 300}]', null, '2026-01-01 12:01:30Z') as r;
select results_eq(
  $$ select b.run ->> 'backfilled', j.payload #>> '{_cron,backfilled}'
       from backfilled as b
       join _private_jobs as j on j.id = (b.run ->> 'job_id')::bigint $$,
  $$ values ('true', 'true') $$,
  'a backfilled job says so in its payload');
select results_eq($$ select revision, run_at from jobs where key = 'k' $$, $$ values (1, '2026-01-01 12:01Z'::timestamptz) $$,
                  'the job_key of an item replaces the waiting job');

select * from finish();
rollback;
