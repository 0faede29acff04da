-- Where a claim puts the claim cursor, for how long, and who knows of it; what a claim does with it.
begin;
select plan(25);
set local search_path = graphile_worker, public;
\ir ../clock.psql

create temp sequence looks minvalue 0;
create function pg_temp.skips(entries bigint) returns text language sql as $$ select set_config('test.entries', entries::text, true) $$;
create or replace function _gw_index_reads() returns bigint language sql volatile as $$ -- each second look is so much later
  select nextval('pg_temp.looks') % 2 * current_setting('test.entries')::bigint
$$;
create function pg_temp.claim() returns _gw_claim language sql as $$ select _gw_new_claim('worker', null, 1, null, now(), null, null, 1) $$;
create function pg_temp.place(job text) returns _gw_place language sql as $$
  select row(j.priority, j.run_at, j.id, null)::_gw_place from _private_jobs as j where j.key = job
$$;
create function pg_temp.cursor() returns bigint[] language sql as $$ select nullif(current_setting('gw.claim_cursor'), '')::bigint[] $$;
-- A cursor at a job, of a time ago.
create function pg_temp.at(job text, ends interval, looks interval, put interval default '0') returns void language sql as $$
  delete from _gw_claim_cursors;
  select set_config('gw.claim_cursor', array[_gw_cursor_scope(pg_temp.claim()), _gw_lease(now() + ends), _gw_lease(now() + looks), p.priority,
                                             _gw_lease(p.run_at), p.id, _gw_lease(now() - put), 0]::text, false)
    from pg_temp.place(job) as p
$$;
-- Puts the cursor, and tells at which job, with when it ends and is not trusted any more, and whether others know it.
create function pg_temp.put(from_job text, took interval, last text default null) returns text language sql as $$
  select _gw_put_claim_cursor(pg_temp.claim(), pg_temp.place(from_job), now() - took, pg_temp.place(last));
  select concat_ws(' ', coalesce((select j.key from _private_jobs as j where j.id = c.cursor[6]), c.cursor[6]::text),
                   c.cursor[2] - _gw_lease(now()), c.cursor[3] - _gw_lease(now()),
                   case when exists (select from _gw_claim_cursors) then 'known' end)
    from (select pg_temp.cursor() as cursor) as c
   where c.cursor is not null
$$;
create function pg_temp.none() returns void language sql as $$
  select set_config('gw.claim_cursor', '', false);
  delete from _gw_claim_cursors
$$;
select add_job('task', job_key => k, run_at => now() - '1 hour'::interval + n * '1 s'::interval)
  from unnest('{a,b,c}'::text[]) with ordinality as u (k, n);

select pg_temp.none(), pg_temp.skips(1000);
select is(pg_temp.put(null, '6 ms'), 'a 300000 120000 known',
  'the cursor is put at the first job; the longer the search, the longer it counts');
select is((pg_temp.cursor())[5], _gw_lease((pg_temp.place('a')).run_at), 'the cursor has the run_at of its job');
select pg_temp.none();
select is(pg_temp.put(null, '1 s'), 'a 500000 500000 known', 'the cursor counts for half a second at most');
select pg_temp.none();
select is(pg_temp.put(null, '5 ms'), 'a 250000 100000 known', 'the cursor is trusted after a search of 5 ms');
select pg_temp.none();
select is(pg_temp.put(null, '4999 us'), 'a 249950 0 known',
  'the cursor is not trusted after a shorter search than 5 ms');
select pg_temp.none();
select is(pg_temp.put(null, '1 ms'), 'a 50000 0', 'a cursor of a search of 1 ms is not stored for others');
select pg_temp.none();
select is(pg_temp.put('b', '6 ms'), 'b 300000 120000 known', 'the cursor is put at the place that is given');
select pg_temp.none();
select add_job('task', job_key => 'z', run_at => '6000-01-01', priority => 9);
select is(pg_temp.put('z', '6 ms'), 'z 300000 120000 known', 'the cursor can be put at a job of a later millennium');
select is((pg_temp.cursor())[5], _gw_lease('5000-01-01'),
  'the cursor of a job of a later millennium has the end of this one as its run_at');
select remove_job('z');
select pg_temp.none(), pg_temp.skips(999);
update _private_jobs set run_at = now() where key = 'a';
update _private_jobs set priority = -1;
select is(pg_temp.put('a', '6 ms'), null, 'no cursor is put where few entries are skipped and a job is due now');

select pg_temp.skips(1000);
update _private_jobs set priority = 0, run_at = now() - interval '1 hour' + id * interval '1 microsecond';
select pg_temp.none();
select _gw_put_claim_cursor(pg_temp.claim(), row(5, now(), 0, null)::_gw_place, now() - interval '6 ms', null);
select is((pg_temp.cursor())[5], _gw_lease(now() - interval '1 second'),
  'the cursor without a job is a second ago if entries were skipped');

select pg_temp.at('a', '1 ms', '0');
select _gw_put_claim_cursor(pg_temp.claim(), row(5, now(), 0, null)::_gw_place, null, pg_temp.place('b'));
select is((pg_temp.cursor())[6], (pg_temp.place('b')).id,
  'the cursor without a job in front is put at the last job that was claimed');
select pg_temp.at('b', '0', '0');
select is(pg_temp.put('b', null), 'b 0 0 known', 'a cursor that ends now is stored for others again');
select pg_temp.at('b', '1 us', '0');
select is(pg_temp.put('b', null), 'b 1 0', 'a cursor that others have is not stored again');

-- Which cursor it is.
select pg_temp.at('a', '1 ms', '0', '0');
select is(_gw_claim_cursor(pg_temp.claim()), pg_temp.cursor(), 'a cursor that was put now counts');
insert into _gw_claim_cursors (scope, put_at, cursor)
select c[1], c[7], c[1:5] || 77::bigint || c[7:8] from pg_temp.cursor() as c;
select is((_gw_claim_cursor(pg_temp.claim()))[6], (pg_temp.place('a')).id,
  'the cursor of the session is used rather than another of the same time');
select pg_temp.at('a', '1 ms', '0', '1 us');
insert into _gw_claim_cursors (scope, put_at, cursor)
select c[1], _gw_lease(now()), c[1:5] || array[77, _gw_lease(now()), 0] from pg_temp.cursor() as c;
select is((_gw_claim_cursor(pg_temp.claim()))[6], 77::bigint, 'a cursor of others that was put later is used');

-- What a claim does with it.
create function pg_temp.claimed(due interval default '0', most integer default 1) returns text language sql as $$
  select string_agg(b.key || b.attempts, ' ' order by b.id) from get_job_batch('worker', null, most, null, now() + due) as b
$$;
create function pg_temp.undo() returns void language sql as $$
  update _private_jobs set locked_at = null, locked_by = null, attempts = 0
$$;
select pg_temp.skips(0), pg_temp.at('b', '1 us', '0');
select is(pg_temp.claimed(), 'b1', 'a claim starts at the cursor');
select pg_temp.undo(), pg_temp.at('b', '1 ms', '0');
select is(pg_temp.claimed('1 ms'), 'b1',
  'a claim starts at the cursor if it takes what is due up to the end of the cursor');
select pg_temp.undo(), pg_temp.at('b', '0', '0');
select is(pg_temp.claimed(), 'a1', 'a claim starts at the beginning if the cursor has ended');
select pg_temp.undo(), pg_temp.at('c', '1 ms', '0');
update _private_jobs set locked_at = now() where key = 'c';
select is(pg_temp.claimed(), null, 'a claim does not look in front of the cursor before the time for that is over');
select pg_temp.at('c', '1 ms', '-1 us');
select is(pg_temp.claimed(), 'a1', 'a claim looks in front of the cursor when the time for that is over');

\ir ../calls.psql
select pg_temp.undo(), pg_temp.at('b', '1 ms', '0'), pg_temp.skips(107);
select is(pg_temp.claimed() || pg_temp.calls('{_gw_put_claim_cursor}'), 'b10', 'a claim that skips few entries puts no cursor');
select pg_temp.undo(), pg_temp.at('b', '1 ms', '0');
select is(pg_temp.claimed(most => 20) || pg_temp.calls('{_gw_take_turn}'), 'b1 c10',
  'a claim of 20 jobs takes no turn');

create or replace function _gw_take_turn() returns boolean language sql as $$ select false $$;
select pg_temp.undo(), pg_temp.at('b', '1 ms', '0');
select count(*) from add_jobs(array(select row('task', null, null, null, null, null, null, null)::job_spec from generate_series(1, 600)));
select is((select count(*) from get_job_batch('worker', null, 550)), 500::bigint,
  'a large claim without a turn takes 500 jobs');

select * from finish();
rollback;
