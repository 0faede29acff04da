-- A pause, and the time for which a lane is closed, end at their time, not after it.
begin;
select plan(19);
set local search_path = graphile_worker, public;
\ir ../clock.psql

create function pg_temp.claimed(tasks text[]) returns text language sql as $$
  select string_agg(b.payload::text, ' ' order by b.id) from get_job_batch('worker', tasks, 10) as b
$$;
create function pg_temp.changed(name text) returns bigint language sql as $$
  select pg_stat_get_xact_tuples_updated(name::regclass)
$$;

select throws_ok($$ select pause('task', until => now()) $$, 'GWLVA', null, 'a pause that ends now is refused');
select lives_ok($$ select pause('task', until => now() + interval '1 microsecond') $$,
  'a pause that ends a microsecond later is accepted');

select add_job('task', '1'), add_job('other', '2');
select is(pg_temp.claimed(null), '2', 'a job of a paused task waits');
update _gw_pauses set until = now();
select is(next_run_at('{other}'), null, 'the end of a pause that ends now is not waited for');
select pause('another', until => 'infinity');
select is(next_run_at('{other}'), null, 'the end of an endless pause is not waited for');
update _private_jobs set job_queue_id = null where locked_at is null;
select _gw_hide_jobs();
select is((select job_queue_id from _private_jobs where locked_at is null), null,
  'jobs of a pause that has ended are not hidden from Node');
select is(pg_temp.claimed(null), '1', 'a job of a task whose pause has ended starts');
select _gw_sweep_pauses();
select is((select array_agg(task) from _gw_pauses), '{another}', 'the pause that has ended is deleted');

select add_job('task', to_json(n), 'q') from generate_series(3, 4) as n;
select pause(queue => 'q');
update _private_job_queues set locked_at = now() - interval '1 hour';
select _gw_sweep_pauses();
select is((select now() - locked_at from _private_job_queues), interval '1 hour',
  'a lock of a pause is not renewed when it is exactly an hour old');
update _private_job_queues set locked_at = now() - interval '1 hour 1 microsecond';
select _gw_sweep_pauses();
select is((select now() - locked_at from _private_job_queues), interval '0',
  'a lock of a pause is renewed when it is older than an hour');
update _gw_pauses set until = now() where queue_name = 'q';
select is(pg_temp.claimed('{task}'), '3', 'a job of a queue whose pause has ended starts');
insert into _gw_pauses (queue_name, until) values ('q', now());
select complete_job('worker', j.id) from _private_jobs as j where j.job_queue_id > 0 and j.locked_by = 'worker';
select is((select locked_by from _private_job_queues), null, 'a pause that has ended does not take its queue');

select set_limit('l', '{limited}', by => 'payload:k', max_running => 9), add_job('limited', '{"k":5}');
insert into _gw_pauses (limit_name, until) values ('l', now());
select is(pg_temp.claimed('{limited}'), '{"k":5}', 'a pause that has ended does not hold its limit');

select add_job('limited', '{"k":5}');
update _gw_gates set closed_until = now() where key = '5';
select is(open_lane('l'), 0::bigint, 'open_lane() does not open a lane that was closed until now');
select is(pg_temp.claimed('{limited}'), '{"k":5}', 'a lane that was closed until now starts its job');

select pause('other');
select _gw_hide_jobs();
select pg_temp.changed('_gw_pauses') as written \gset
select is(_gw_hide_jobs(), false, 'a keeper that has gone over all jobs has no more to hide');
select is(pg_temp.changed('_gw_pauses'), :'written'::bigint,
  'a keeper that has gone over all jobs does not write the pause');

-- A pause of a task that has ended, and queues with long names.
select add_job('other');
\ir ../calls.psql
delete from _gw_pauses;
update _private_jobs set job_queue_id = -1 where locked_at is null;
select _gw_hide_jobs();
select is(pg_temp.calls('{_gw_wake}'), 1::bigint, 'jobs that are not hidden any more notify workers');
select lives_ok($$ select pause(queue => repeat('q', 128)) $$, 'a queue may have a name of 128 characters');

select * from finish();
rollback;
