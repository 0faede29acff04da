-- A heartbeat records a sample once a minute, and list_samples() reads them.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select register_worker('w');
select add_job('mail', run_at => now() - interval '1 minute') from generate_series(1, 3);
select heartbeat('w');
select heartbeat('w');
select results_eq('select s.ready, s.failed, s.workers from _gw_samples as s', $$ values (3::bigint, 0::bigint, 1::bigint) $$,
  'two heartbeats within a minute record one sample');
update _gw_turns set last_at = now() - interval '1 minute' where name = 'sample';
delete from _gw_samples;
select heartbeat('nobody');
select is((select count(*) from _gw_samples), 0::bigint, 'a worker that is not registered records no sample');
alter table _gw_samples drop column gone;
select lives_ok($$ select heartbeat('w') $$, 'a sample that cannot be taken does not stop a heartbeat');
alter table _gw_samples add column gone bigint;

insert into _gw_samples (at, ready, scheduled, running, failed, is_estimate, oldest_ready_seconds, workers, added, gone)
select date_trunc('hour', now()) - n * interval '1 minute', n, 0, 0, 0, false, n, 1, 1000 - 60 * n, 1000 - 30 * n
  from generate_series(1, 10) as n;
select results_eq(
  $$ select s.ready, s.added_per_second, s.gone_per_second from list_samples('1 day', 1440) as s order by s.at limit 2 $$,
  $$ values (10::bigint, null::double precision, null::double precision), (9, 1, 0.5) $$,
  'list_samples() returns rates since the sample before');
select is((select count(*) from list_samples('1 day', 24)), 1::bigint,
  'list_samples() returns the last sample of each span');
select throws_ok($$ select from list_samples(max_rows => -1) $$, 'GWILM', null,
  'list_samples() refuses a negative number of rows');

select * from finish();
rollback;
