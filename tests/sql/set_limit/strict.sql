-- A strict limit keeps the slots of recovered jobs for a time, because a worker that seems dead may only have stopped for a while.
begin;
select plan(12);
set local search_path = graphile_worker, public;
\ir ../keeper.psql

create function pg_temp.claimed() returns text as $body$
  select coalesce(string_agg(b.key, ' '), '') from get_job_batch('worker', batch_size => 5, now => clock_timestamp()) as b
$body$ language sql;
create function pg_temp.time_passes() returns void as $body$
  update _gw_gate_ends set at = at - interval '1 hour' where at > '-infinity';
$body$ language sql;

select throws_ok($$ select set_limit('x', rate => 1, per => '1 s', strict => '1 min') $$, 'GWLVA',
                 'The limit ''x'' is invalid: strict needs max_running or total_running.',
                 'a strict limit without slots is refused');
select throws_ok($$ select set_limit('x', max_running => 1, strict => '-1 s') $$, 'GWLVA', null,
  'a negative strict time is refused');

select register_worker('worker');
select register_worker('dies', tasks => '{export,mail}');
select set_limit('exports', tasks => '{export}', max_running => 2, strict => '1 hour');
select set_limit('mails', tasks => '{mail}', max_running => 1);
select get_job_batch('worker') from generate_series(1, 9);
select is(l.strict, '1 hour'::interval,
  'list_limits() shows the strict time') from list_limits() as l where l.name = 'exports';
select add_job('export', job_key => 'lost 1'), add_job('mail', job_key => 'lost 2');
select get_job_batch('dies', batch_size => 5);
select add_job('export', job_key => n) from unnest(array['1', '2', '3']) as n;
select add_job('mail', job_key => 'mail');
select pg_temp.kill('dies');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is((select count(*) from jobs where locked_by = 'dies'), 0::bigint, 'the jobs of the dead worker are recovered');

select is(pg_temp.claimed(), '1 mail', 'one slot of the strict limit is kept, and none of the other limit');
select matches(w.detail, 'kept until .*, because the limit is strict',
  'why() says that a strict limit keeps the slot') from jobs as j, why(j.id) as w where j.key = '2' and w.reason = 'full';
select is((select running from list_limits() where name = 'exports'), 1::bigint,
  'the limit has one running job besides the slot that is kept');
select is((select count(*) from _gw_gate_ends as e where e.at between now() + interval '59 minutes' and now() + interval '61 minutes'),
          1::bigint, 'the lane is to be looked at again when the strict time is over');
select _gw_sweep_limits();
select is(pg_temp.claimed(), '', 'a heartbeat does not end the strict time');
select pg_temp.time_passes();
select is(pg_temp.claimed(), '2', 'the next job starts when the strict time is over');
select _gw_sweep_limits();
select is_empty($$ select from _gw_gate_ends where at > clock_timestamp() $$,
  'no slot is kept when the strict time is over');

-- Who unlocks a worker by force says that it does not run.
select force_unlock_workers('{worker}');
select is((select count(*) from _gw_gate_ends where at > clock_timestamp()), 0::bigint, 'no slot is kept for workers that are unlocked by force');

select * from finish();
rollback;
