-- Sweeps set back what is later than a clock that is right can have left, not what it can; they delete lanes, keys and
-- records after their time.
begin;
select plan(13);
set local search_path = graphile_worker, public;
\ir ../clock.psql

select set_limit('l', '{task}', by => 'payload:k', rate => 1, per => '1 hour'), add_job('task', '{"k":1}');
select complete_job('worker', id) from get_job_batch('worker');
create function pg_temp.after(theoretic interval, served interval) returns text language sql as $$
  update _gw_gates set theoretic_at = now() + theoretic, served_at = now() + served;
  update _gw_limits set theoretic_at = now() + theoretic;
  select _gw_sweep_limits();
  select format('%s %s %s', g.theoretic_at - now(), g.served_at - now(), l.theoretic_at - now()) from _gw_gates as g, _gw_limits as l
$$;
select is(pg_temp.after('1 hour 1 second', '1 second'), '01:00:01 00:00:01 01:00:01',
  'times that are a burst and a second ahead stay');
select is(pg_temp.after('1 hour 1.000001 seconds', '1.000001 seconds'), '00:00:00 00:00:00 00:00:00',
  'times that are further ahead than a burst and a second are set back');
select is(pg_temp.after('0', '0'), '00:00:00 00:00:00 00:00:00', 'a key whose rate is unused from now on stays');

select add_job('task', '{"k":1}');
select complete_job('worker', id) from get_job_batch('worker');
update _gw_gates set theoretic_at = now() - interval '1 microsecond';
update _gw_lanes set served_at = now() - interval '1 minute', gate = 0;
select _gw_sweep_limits();
select is((select count(*) from _gw_lanes), 1::bigint, 'an idle lane stays for a minute');
update _gw_lanes set served_at = now() - interval '1 minute 1 microsecond';
select _gw_sweep_limits();
select is((select count(*) from _gw_lanes), 0::bigint, 'an idle lane is deleted after a minute');
select is((select count(*) from _gw_gates), 0::bigint, 'the key of a deleted lane whose rate is unused is deleted');

delete from _gw_mends;
insert into _gw_mends (at, mended) values (now() - interval '2 days', 7), (now() - interval '2 days 1 microsecond', 8);
select _gw_sweep_limits();
select is((select array_agg(mended order by mended) from _gw_mends), '{7,8}',
  'a sweep that mends nothing stores no record');
insert into _private_tasks (identifier) values ('other');
insert into _private_jobs (task_id, job_queue_id) select id, -77 from _private_tasks where identifier = 'other';
select _gw_sweep_limits();
select is((select array_agg(mended order by mended) from _gw_mends), '{1,7}',
  'a sweep that mends something stores a record and deletes those of more than two days ago');

select add_job('task', '{"k":2}');
select complete_job('worker', id) from get_job_batch('worker');
update _gw_gates set theoretic_at = now();
select pg_stat_get_xact_tuples_updated('_gw_gates'::regclass) as written \gset
select set_limit('l', '{task}', by => 'payload:k', rate => 2, per => '1 hour', burst => 1);
select is(pg_stat_get_xact_tuples_updated('_gw_gates'::regclass), :'written'::bigint, 'a change of the rate writes no key whose rate is unused');
select is((select theoretic_at from _gw_gates), now(),
  'a key whose rate is unused keeps its time after a change of the rate');

select lives_ok($$ select set_limit('s', max_running => 1, strict => '1 day') $$, 'a limit may be strict for a day');
select lives_ok($$ select set_limit('s', max_running => 1, strict => '1 microsecond') $$,
  'a limit may be strict for a microsecond');
select throws_ok($$ select set_limit('s', max_running => 1, strict => '0') $$, 'GWLVA', null,
  'a strict time of zero is refused');

select * from finish();
rollback;
