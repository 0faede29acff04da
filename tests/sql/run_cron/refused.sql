-- Invalid items are refused as a whole, and the error says which item is invalid.
begin;
select plan(26);
set local search_path = graphile_worker, public;

create function pg_temp.refuses(items text, code text, message text)
  returns text
  language sql
as $$
  select throws_ok(format('select run_cron(%L)', items), code, message, items)
$$;

select pg_temp.refuses(i, 'GWRIT', 'Items must be a JSON array of objects.') from unnest(array['{}', 'null', '[1]', '[{"task": "a", "pattern": "* * * * *"}, []]']) as i;
select throws_ok($$ select run_cron(null) $$, 'GWRIT', 'Items must be a JSON array of objects.',
  'run_cron() refuses items that are null');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "match": "x"}]', 'GWRIT', 'Items have no key ''match''.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *"}, {"task": "b"}]', 'GWRPT', 'Invalid cron pattern ''null'' in item 2 of run_cron call');
select pg_temp.refuses('[{"task": "a", "pattern": "60 * * * *"}]', 'GWRPT', 'Too large value ''60'' in minutes range in item 1 of run_cron call: expected values in the range 0-59.');
select pg_temp.refuses(format('[{"task": "a", "pattern": "%s * * * *"}]', repeat('1,', 500) || '1'), 'GWRPT', 'Cron pattern in item 1 of run_cron call is too long (max length: 1000).');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "time_zone": "Nowhere"}]', 'GWRTZ', 'Time zone ''Nowhere'' is not known to the server.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "payload": [1]}]', 'GWRIT', 'Payload in item 1 of run_cron call must be an object.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "fill": -1}]', 'GWRIT', 'Fill in item 1 of run_cron call must not be negative.');
select pg_temp.refuses('[{"task": "a", "identifier": "", "pattern": "* * * * *"}]', 'GWRIT', 'Identifier in item 1 of run_cron call must be 1 to 128 characters long.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *"}, {"task": "a", "pattern": "1 * * * *"}]', 'GWRIT', 'Identifier ''a'' occurs more than once.');
select pg_temp.refuses('[{"identifier": "a", "pattern": "* * * * *"}]', 'GWBNI', 'Task identifier must not be null.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "max_attempts": 0}]', 'GWBMA', 'Job maximum attempts must be at least 1.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "job_key": ""}]', 'GWBJK', 'Job key must not be empty; pass null for a job without one.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "job_key": "k", "job_key_mode": "merge"}]', 'GWBKM', 'Invalid job_key_mode value, expected ''replace'', ''preserve_run_at'' or ''unsafe_dedupe''.');
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "priority": "high"}]', '22P02', null);
select pg_temp.refuses('[{"task": "a", "pattern": "* * * * *", "fill": "178000000 years"}]', 'GWRIT', 'Fill in item 1 of run_cron call must be at most 100 years.');
select throws_ok(format($$ select run_cron('[]', %L) $$, at), 'GWRBT', null, 'since = ' || at)
  from unnest(array['4714-11-24 BC', '294276-12-31 23:59Z']) as at;
select throws_ok($$ select run_cron('[]', now => '294276-12-31 23:59Z') $$, 'GWRBT', null,
  'run_cron() refuses a now in the last year of PostgreSQL');
select throws_ok($$ select run_cron('[]', '-infinity') $$, 'GWRBT', null, 'run_cron() refuses an infinite since');
select throws_ok($$ select run_cron('[]', now => 'infinity') $$, 'GWRBT', null, 'run_cron() refuses an infinite now');
select is_empty($$ select identifier from _private_known_crontabs $$, 'refused calls leave no known crontabs');

select * from finish();
rollback;
