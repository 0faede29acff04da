-- The jobs and queues of a worker that was silent for too long are freed, with an error that describes what happened.
begin;
select plan(7);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('dead', '{task}', 4, 'db1', 7);
select add_job('task', job_key => 'plain'), add_job('task', job_key => 'queued', queue_name => 'q'),
       add_job('task', job_key => 'last', max_attempts => 1), add_job('task', job_key => 'behind', queue_name => 'q');
select get_job_batch('dead', batch_size => 9);
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'nothing is freed while the worker is not silent for long');
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 3::bigint) $$,
                  'a heartbeat of another worker finds it dead, and frees its three jobs');
select set_eq(
  $$ select key, attempts, is_available, locked_by, run_at from _private_jobs $$,
  $$ values ('plain',  1::smallint, true,  null::text, now() + backoff(1)),
            ('queued', 1::smallint, true,  null,       now() + backoff(1)),
            ('last',   1::smallint, false, null,       now() + backoff(1)),
            ('behind', 0::smallint, true,  null,       now()) $$,
  'recovered jobs have used an attempt and wait for their back-off; the last attempt was the last');
select set_eq(
  $$ select regexp_replace(last_error, '[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}', 'then') from _private_jobs where attempts > 0 $$,
  array['Worker dead (host db1, pid 7) died; it was last seen at then UTC.'],
  'last_error contains the dead worker and the time');
select ok(is_available, 'the queues of the dead worker are free') from _private_job_queues;
select ok(recovered_at is not null, 'the dead worker stays listed, as recovered') from _gw_workers where id = 'dead';
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'a worker is recovered once');

select * from finish();
rollback;
