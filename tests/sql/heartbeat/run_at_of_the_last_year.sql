-- The jobs of a dead worker are recovered whatever their run_at: a job that was claimed with another current time keeps
-- its run_at.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '1 minute');
create or replace function _gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$;
select register_worker('keeper'), register_worker('dead');
select add_job('task', run_at => at::timestamptz) from unnest(array['294276-12-31 23:59:59Z', 'infinity', '-infinity']) as at;
select count(*) from get_job_batch('dead', batch_size => 9, now => 'infinity');
update _gw_workers set last_seen_at = clock_timestamp() - interval '2 minutes', beating_since = clock_timestamp() - interval '4 minutes';
update _gw_workers set last_seen_at = clock_timestamp() where id = 'keeper';
update _private_jobs set locked_at = locked_at - interval '2 minutes';
select results_eq($$ select died, freed from heartbeat('keeper') $$, $$ values ('{dead}'::text[], 3::bigint) $$,
  'all jobs of the dead worker are freed, whatever their run_at');
select results_eq($$ select run_at from _private_jobs order by id $$,
                  $$ values ('294276-12-31 23:59:59Z'::timestamptz), ('infinity'), (now() + backoff(1)) $$,
                  'recovered jobs keep their run_at if it is later than their back-off');

select * from finish();
rollback;
