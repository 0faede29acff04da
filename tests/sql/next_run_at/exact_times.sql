-- The time at which a claim will look in front of the claim cursor counts if it was within the last second. A search
-- that meets only jobs of other tasks goes on if these are due within a second.
begin;
select plan(6);
set local search_path = graphile_worker, public;
\ir ../clock.psql

create function pg_temp.looks_at(at interval) returns timestamptz language sql as $$
  select set_config('gw.claim_cursor', array[1, 0, _gw_lease(now() + at), 0, 0, 1, 0, 0]::text, false);
  select next_run_at()
$$;
select is(pg_temp.looks_at('-1 second'), null, 'not a second ago');
select is(pg_temp.looks_at('-999999 us'), now(), 'later: at once');
select is(pg_temp.looks_at('1 second'), now() + interval '1 second', 'or at its time');
select set_config('gw.claim_cursor', '', false);

select add_job('mine', run_at => now() + interval '1 hour');
select count(*) from add_jobs(array(select row('other', null, null, now() + interval '1 second', null, null, null, null)::job_spec
                                      from generate_series(1, 50)));
select is(next_run_at('{mine}'), now() + interval '1 hour', 'past jobs that are due in a second');
update _private_jobs set run_at = run_at + interval '1 us' where run_at < now() + interval '1 hour';
select is(next_run_at('{mine}'), now() + interval '1.000001 seconds', 'not past later ones');
select is(next_run_at('{other}'), now() + interval '1.000001 seconds', 'which are due for another worker');

select * from finish();
rollback;
