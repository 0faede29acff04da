-- Errors that may be due to the batch end it: what ran before is done, and the job that raised one runs by a claim. What no
-- handler of errors catches undoes all of it.
begin;
select plan(14);
\ir ../work_batch.psql

create function pg_temp.stopped_by(state text) returns text language plpgsql as $$
declare
  b record;
begin
  truncate _private_jobs, public.effects;
  perform pg_temp.jobs_to_do(1, 30), pg_temp.jobs_to_do(31, 31, 'state', state), pg_temp.jobs_to_do(32, 33);
  b := pg_temp.batch();
  return concat_ws(' ', b.stopped_by, cardinality(b.ids), (select count(*) from _private_jobs), (select sum(attempts) from _private_jobs));
end;
$$;
select is(pg_temp.stopped_by('40001'), '40001 20 13 0', 'a serialization failure');
select results_eq($$ select count(*), max(n) from public.effects $$, $$ values (20::bigint, 20) $$, 'only what is complete has effects');
select is(pg_temp.stopped_by('40P01'), '40P01 20 13 0', 'a deadlock');
select is(pg_temp.stopped_by('55P03'), '55P03 20 13 0', 'a lock that is not available');
select is(pg_temp.stopped_by('53200'), '53200 20 13 0', 'too little memory');
select is(pg_temp.stopped_by('2D000'), '2D000 20 13 0', 'a handler that commits');
select is(pg_temp.stopped_by('P0001'), '33 1 1', 'any other error is that of the job');

truncate _private_jobs, public.effects;
select pg_temp.jobs_to_do(1, 3), pg_temp.jobs_to_do(4, 4, 'state', '57014');
create function pg_temp.canceled() returns text language plpgsql as $$
begin
  perform pg_temp.batch();
  return null;
exception when query_canceled then
  return sqlerrm;
end;
$$;
select is(pg_temp.canceled(), 'As asked.', 'a cancellation is not caught');
select is((select count(*) from _private_jobs where attempts = 0), 4::bigint, 'and undoes everything');

create function public.meddle(payload json) returns void language plpgsql as $$
begin
  update graphile_worker._private_jobs set priority = 1;
end;
$$;
truncate _private_jobs;
select pg_temp.jobs_to_do(1, 3);
select throws_ok($$ select pg_temp.batch('public.meddle') $$, 'GWWBC', null, 'a handler must not change jobs of its batch');
create function pg_temp.lock_timeout() returns text language plpgsql as $$
begin
  perform set_config('lock_timeout', '0', true);
  perform _gw_limit_lock_waits();
  return current_setting('lock_timeout');
end;
$$;
select is(pg_temp.lock_timeout(), '100ms', 'and waits for no lock for longer than a batch is to take');

truncate _private_jobs, public.effects;
select pg_temp.jobs_to_do(1, 10);
select results_eq(
  $$ select b.ran, b.locked, b.stopped_by, b.last_id = (select max(id) from _private_jobs)
       from _gw_work_batch('w', 0, 'public.work', batch_size => 10, max_time => '0') as b $$,
  $$ values (2, 10, 'time', true) $$, 'after max_time the rest of the jobs is left');
select results_eq($$ select n from public.effects $$, $$ values (1), (2) $$, 'and not done');
select throws_ok($$ select _gw_work_batch('w', 0, 'work') $$, 'GWWBH', 'The handler of a batch must have a schema and a name, as in app.send_mail, not work.', 'a handler has a schema');

select * from finish();
rollback;
