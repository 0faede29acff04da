-- A worker is dead if it has been silent for longer than dead_after, not for as long; one may judge others that has
-- beaten for as long.
begin;
select plan(9);
set local search_path = graphile_worker, public;
\ir ../clock.psql
\ir ../keeper.psql

create function pg_temp.beat_exactly(since interval) returns setof record language sql as $$
  update _gw_workers set last_seen_at = now(), beating_since = now() - since, recovered_at = null where id = 'keeper';
  select died, freed from heartbeat('keeper', reconnected => false)
$$;

select register_worker('other'), add_job('task');
select count(*) from get_job_batch('other');
update _gw_workers set last_seen_at = now() - interval '1 minute' where id = 'other';
update _private_jobs set locked_at = now() - interval '2 minutes';

\ir ../calls.psql
select results_eq($$ select * from pg_temp.beat_exactly('1 minute') as (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'a worker that has been silent for exactly dead_after is not dead');
select is(pg_temp.calls('{_gw_recover_workers}'), 0::bigint,
  'no recovery begins for a worker that has been silent for exactly dead_after');
select results_eq($$ select r.died, r.freed from _gw_recover_workers('1 minute') as r $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'a recovery that is called frees no job of this worker');
select is(pg_stat_get_xact_tuples_inserted('_gw_recovery'::regclass), 0::bigint,
  'no pass begins for a worker that is not dead');
insert into _gw_recovery (workers) values ('{other}');
select results_eq($$ select r.died, r.freed from _gw_recover_workers('1 minute') as r $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'a pass that has begun earlier frees no job of a worker that is not dead');

update _gw_workers set last_seen_at = now() - interval '1 minute 1 microsecond' where id = 'other';
select results_eq($$ select * from pg_temp.beat_exactly('59 seconds') as (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'a worker that has beaten for less than dead_after does not judge others');
select results_eq($$ select * from pg_temp.beat_exactly('1 minute') as (died text[], freed bigint) $$, $$ values ('{other}'::text[], 1::bigint) $$,
                  'a worker that has beaten for dead_after judges one that was silent for longer');

create or replace function _gw_serving_since() returns timestamptz language sql as $$ select now() - interval '1 minute' $$;
select is((select count(*) from pg_temp.beat_exactly('1 minute') as (died text[], freed bigint)), 1::bigint,
  'the keeper beats');
select is((select beating_since from _gw_workers where id = 'keeper'), now() - interval '1 minute',
  'the keeper has not beaten for longer than the server has been serving');

select * from finish();
rollback;
