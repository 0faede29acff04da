-- At most 10 000 patterns are cached, for any number of patterns and callers; items without a cached pattern run as well.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create temporary view many as
select n, format('%s %s %s 2 *', n % 60, n / 60 % 24, n / 1440 + 1) as pattern from generate_series(0, 10000) as n;

-- At noon of tomorrow; a and b are due.
create function pg_temp.tick()
  returns setof text
  language sql
as $$
  select s ->> 'task'
    from run_cron('[{"task": "a", "pattern": "0 12 * * *"}, {"task": "b", "pattern": "*/60 12 * * *"}]',
                  date_trunc('day', now(), 'UTC') + interval '35 hours 59 minutes', date_trunc('day', now(), 'UTC') + interval '36 hours') as r,
         json_array_elements(r.scheduled) as s
$$;

select cron_schedule('c', '00 12 * * *', 'c');
insert into _gw_cron_patterns select pattern, 0, 0, 0, 0, 0, false from many where n < 9998;
select results_eq($$ select pg_temp.tick() $$, array['a', 'b', 'c'],
  'a tick with two new patterns and room for one runs all items');
select set_eq($$ select pattern from _gw_cron_patterns $$, array['0 12 * * *', '*/60 12 * * *', '00 12 * * *'],
              'cached patterns that neither the tick nor a schedule needs are removed');

select _gw_remember_patterns(array_agg(s), 'test')
  from (select null as identifier, null as task, m.pattern, 'UTC' as time_zone, null::json as payload from many as m) as m
 cross join lateral json_populate_record(null::_gw_schedules, row_to_json(m)) as s;
select is((select count(*) from _gw_cron_patterns), 10000::bigint,
  'no more than 10000 patterns of one call are cached');

insert into _gw_schedules (identifier, task, pattern, paused) select n, 'none', pattern, true from many;
delete from _gw_cron_patterns where pattern like '%12 * * *';
insert into _gw_cron_patterns select pattern, 0, 0, 0, 0, 0, false from many on conflict do nothing;
delete from _private_known_crontabs;
select is((select count(*) from _gw_cron_patterns), 10001::bigint, 'the cache is full with the patterns of schedules');
select results_eq($$ select pg_temp.tick() $$, array['a', 'b', 'c'], 'items without a cached pattern are due as well');
select is((select count(*) from _gw_cron_patterns), 10001::bigint, 'patterns without room are not cached');

select * from finish();
rollback;
