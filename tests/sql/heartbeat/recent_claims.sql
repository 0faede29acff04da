-- Claims of a silent worker within dead_after show that it was alive then; they are not recovered until they are older.
begin;
select plan(4);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('silent');
select add_job('task', job_key => 'old'), add_job('task', job_key => 'young');
select get_job_batch('silent', batch_size => 9);
update _gw_workers set last_seen_at = clock_timestamp() - interval '2 minutes' where id = 'silent';
update _private_jobs set locked_at = locked_at - interval '2 minutes' where key = 'old';
update _private_jobs set locked_at = clock_timestamp() where key = 'young';

select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 1::bigint) $$,
                  'a worker with a recent claim is not marked as dead, its old claim is freed');
select results_eq($$ select key from _private_jobs where locked_at is not null $$, array['young'],
  'the recent claim is not freed');
update _private_jobs set locked_at = now() - interval '2 minutes' where key = 'young';
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{silent}'::text[], 1::bigint) $$,
                  'a heartbeat frees the claim when it is older than dead_after');
select is_empty($$ select key from _private_jobs where locked_at is not null $$,
  'the silent worker holds no job any more');

select * from finish();
rollback;
