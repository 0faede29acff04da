-- Where there has never been a limit or a pause, nor a suspect, claims, ends and heartbeats do nothing for these.
begin;
select plan(5);
set local search_path = graphile_worker, public;

truncate _gw_limit_changes, _gw_limits, _gw_suspects; -- what earlier tests have rolled back has left pages
select add_job('task', queue_name => case when n < 3 then 'q' || n end) from generate_series(1, 4) as n;
create temp table claimed (id bigint, lease bigint);
insert into claimed select id, lease from get_job_batch('worker', batch_size => 3);
insert into claimed select id, lease from get_job_batch('worker');
select register_worker('worker');

\ir ../calls.psql
select fail_job('worker', id, 'once', lease, retry_in => interval '0') from claimed order by id limit 1;
delete from claimed where id = (select min(id) from claimed);
select complete_job_batch('worker', array_agg(id order by id), array_agg(lease order by id)) from claimed;
set constraints all immediate;
select is(pg_temp.calls('{_gw_take_paused,_gw_release_gates}'), 0::bigint, 'ends look for no pauses and gates');
select is(pg_temp.calls('{_gw_suspect_again}'), 0::bigint, 'ends do not look for suspects');
select is(pg_temp.calls('{_gw_wake_for}'), 1::bigint, 'available jobs are looked for by a failure only');
select heartbeat('worker');
select is(pg_temp.calls('{_gw_is_keeper,_gw_sweep_limits,_gw_sweep_pauses,_gw_drop_ended}'), 0::bigint,
  'a heartbeat sweeps no limits, pauses and ended suspects');
create function pg_temp.looks() returns numeric language sql as $$
  select sum(pg_stat_get_xact_numscans(c.oid)) from pg_class as c where c.relname ~ '^_gw_(limits|pauses|workers)'
$$;
select pg_temp.looks() as looks \gset
select _gw_has_rate('worker'), _gw_has_limits();
select is(pg_temp.looks(), :'looks'::numeric, 'a worker that asks for limits reads no table');

select * from finish();
rollback;
