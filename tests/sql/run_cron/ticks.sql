-- A tick adds all runs after the last minute that the worker has handled, each minute once, whichever workers tick.
begin;
select plan(12);
set local search_path = graphile_worker, public;

create function pg_temp.tick(since text, now text, identifier text default 'a')
  returns table (handled text, delay interval, minutes text)
  language sql
as $$
  select to_char(r.handled at time zone 'UTC', 'HH24:MI:SS'), r.delay,
         (select string_agg(substr(s ->> 'ts', 12, 5) || case when s ->> 'backfilled' = 'true' then ' backfilled' else '' end, ', ' order by n)
            from json_array_elements(r.scheduled) with ordinality as s (s, n))
    from run_cron(json_build_array(json_build_object('identifier', identifier, 'task', 't', 'pattern', '*/2 * * * *')),
                  ('2026-01-01 ' || since || 'Z')::timestamptz, ('2026-01-01 ' || now || 'Z')::timestamptz) as r
$$;

select results_eq($$ select * from pg_temp.tick('12:00', '12:01:00.5') $$, $$ values ('12:01:00', interval '59.5 seconds', null) $$,
                  'a tick in a minute without a run adds no job');
select results_eq($$ select * from pg_temp.tick('12:01', '12:02:00') $$, $$ values ('12:02:00', interval '1 minute', '12:02') $$,
                  'a run is due when its minute begins, also of an item that is not known');
select results_eq($$ select * from pg_temp.tick('12:01', '12:02:03') $$, $$ values ('12:02:00', interval '57 seconds', null::text) $$,
                  'a later tick of another worker does not add the run again');
select results_eq($$ select * from pg_temp.tick('12:02', '12:09:59') $$,
                  $$ values ('12:09:00', interval '1 second', '12:04, 12:06, 12:08') $$,
                  'runs that were due while no worker could tick are run, and not marked as backfilled');
select results_eq($$ select * from pg_temp.tick('12:09', '12:03:00') $$, $$ values ('12:09:00', interval '1 minute', null::text) $$,
                  'a clock that went back adds no job, and the next call is due in a minute');
select results_eq($$ select * from pg_temp.tick('12:00', '12:03:00') $$, $$ values ('12:03:00', interval '1 minute', null::text) $$,
                  'a worker that is behind does not add runs that were added');
select results_eq($$ select * from pg_temp.tick('12:05', '12:10:00') $$, $$ values ('12:10:00', interval '1 minute', '12:10') $$,
                  'a worker that is behind adds the next run');
select results_eq($$ select * from pg_temp.tick('12:10:40', '12:11:30') $$, $$ values ('12:11:00', interval '30 seconds', null::text) $$,
                  'since may be any time within its minute');
select results_eq($$ select * from pg_temp.tick('12:11', '12:12:00', 'b') $$, $$ values ('12:12:00', interval '1 minute', '12:12') $$,
                  'an item with another identifier is another recurring job');
select results_eq(
  $$ select r.handled, r.delay from run_cron('[]', now => '2026-01-01 12:00Z') as r $$,
  $$ values ('2026-01-01 11:59Z'::timestamptz, interval '0') $$,
  'a worker that starts as a minute begins is to call again at once');
select results_eq(
  $$ select r.handled, r.delay, r.scheduled::text, r.problems::text from run_cron('[]', now => '2026-01-01 12:00:20Z') as r $$,
  $$ values ('2026-01-01 12:00Z'::timestamptz, interval '40 seconds', '[]', null::text) $$,
  'a worker that starts within a minute calls again for the next one');
update _private_known_crontabs set last_execution = '2026-01-01 12:20Z' where identifier = 'a';
select results_eq($$ select * from pg_temp.tick('12:14', '12:24:00') $$, $$ values ('12:24:00', interval '1 minute', '12:22, 12:24') $$,
                  'a run that Node has added is not added again');

select * from finish();
rollback;
