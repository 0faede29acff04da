-- Lanes of a fair limit take turns: the fewest running jobs first, then the least recently served, however long jobs have waited.
begin;
select plan(15);
set local search_path = graphile_worker, public;

-- Claims so many jobs, one by one, and returns their names.
create function pg_temp.claimed(jobs integer, batch integer default 1) returns text[] as $body$
declare
  names text[] := '{}';
begin
  for n in 1..jobs loop
    names := names || array(select b.payload ->> 'n' from get_job_batch('worker', batch_size => batch, now => clock_timestamp()) as b);
    perform pg_sleep(0.002); -- turns count milliseconds
  end loop;
  return names;
end;
$body$ language plpgsql;
create function pg_temp.done(names text[]) returns void as $body$
begin
  perform complete_job('worker', j.id) from _private_jobs as j where j.payload ->> 'n' = any (names) order by j.id;
end;
$body$ language plpgsql;
create function pg_temp.add(names text[]) returns void as $body$
begin
  perform add_job('mail', json_build_object('t', left(u.n, 1), 'n', u.n), run_at => timestamptz '2020-01-01' + u.place * interval '1 s')
     from unnest(names) with ordinality as u (n, place);
end;
$body$ language plpgsql;

select throws_ok($$ select set_limit('x', fair => true) $$, 'GWLVA', 'The limit ''x'' is invalid: fair needs by.',
  'a fair limit without a key is refused');
select throws_ok($$ select set_limit('x', by => 'payload:t') $$, 'GWLVA', 'The limit ''x'' is invalid: it needs max_running, total_running, rate or fair.',
  'a limit without any number is refused');
select set_limit('mail', tasks => '{mail}', by => 'payload:t', fair => true);
select is(fair, true, 'list_limits() shows that a limit is fair') from list_limits();
select get_job_batch('worker') from generate_series(1, 9);

-- One tenant has added many jobs before the others.
select pg_temp.add('{a1,a2,a3,a4,a5,a6,b1,b2,c1}');
select is(pg_temp.claimed(7), '{a1,b1,c1,a2,b2,a3,a4}'::text[], 'the lanes of a fair limit take turns');
select pg_temp.done('{a1,a2,a3,a4,b1,c1}');
select pg_temp.add('{b3,c2}');
-- a has nothing running, as has c, which was served before it; b has one.
select is(pg_temp.claimed(4), '{c2,a5,b3,a6}'::text[],
  'of lanes with as many running jobs the one served least recently is next');
select pg_temp.done('{a5,a6,b2,b3,c2}');

-- A batch takes turns, too.
select pg_temp.add('{a1,a2,a3,a4,a5,b1,b2,c1}');
select is((select array_agg(n order by n) from unnest(pg_temp.claimed(1, 5)) as n), '{a1,a2,b1,b2,c1}'::text[],
  'the lanes take turns within a batch');
select is((select array_agg(n order by n) from unnest(pg_temp.claimed(1, 5)) as n), '{a3,a4,a5}'::text[],
  'the next batch has the remaining jobs');
delete from _private_jobs;
select _gw_sweep_limits();

-- Priority comes before turns.
select pg_temp.add('{a1,b1}');
select add_job('mail', '{"t": "a", "n": "a0"}', priority => -1, run_at => '2020-01-01') from generate_series(1, 2);
select is(pg_temp.claimed(4), '{a0,a0,b1,a1}'::text[], 'a job of an earlier priority starts before the turns');
delete from _private_jobs;
select _gw_sweep_limits();

-- Jobs without a turn are compared with the job whose turn it is.
select pg_temp.add('{a1,a2,a3,a4,b5}');
select add_job('other', '{"n": "x1"}', run_at => timestamptz '2020-01-01 00:00:02.5');
select add_job('other', '{"n": "x2"}', run_at => timestamptz '2020-01-01 00:00:09');
select is(pg_temp.claimed(7), '{x1,b5,a1,a2,a3,a4,x2}'::text[],
  'a job without a limit is compared with the job of the lane whose turn it is');
delete from _private_jobs;
select _gw_sweep_limits();

-- All lanes wait for one slot: it goes round.
select drop_limit('mail');
select set_limit('mail', tasks => '{mail}', by => 'payload:t', total_running => 2, fair => true);
select get_job_batch('worker') from generate_series(1, 9);
select pg_temp.add('{a1,a2,a3,a4,b1,b2,c1,c2}');
select is(pg_temp.claimed(3), '{a1,b1}'::text[], 'two jobs of two lanes start with two slots');
select pg_temp.done('{a1}');
select is(pg_temp.claimed(2), '{c1}'::text[], 'the lane that has not run gets the free slot');
select pg_temp.done('{b1}');
select is(pg_temp.claimed(2), '{a2}'::text[],
  'of the lanes with no running job the one served least recently gets the free slot');
select pg_temp.done('{a2}');
select is(pg_temp.claimed(2), '{b2}'::text[], 'the next lane gets the next free slot');
select pg_temp.done('{b2}');
select is(pg_temp.claimed(2), '{a3}'::text[], 'a lane that still runs a job does not get the free slot');
select pg_temp.done('{c1}');
select is(pg_temp.claimed(2), '{c2}'::text[], 'a lane with no running job gets the free slot before one with a job');

select * from finish();
rollback;
