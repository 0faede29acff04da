-- The time at which a claim will look in front of the claim cursor counts if it was within the last second. A search
-- that meets only jobs of other tasks goes on if these are due within a second.
begin;
select plan(14);
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

select is(pg_temp.looks_at('1 second'), now() + interval '1 second', 'the earlier of both times');
select set_config('gw.claim_cursor', '', false);
delete from _private_jobs;

-- The parts of the search: the first place, and the priorities of queues, which follow each other.
create function pg_temp.due(place _gw_place, entries integer default 50) returns text language sql as $$
  select d.run_at - now() || ' ' || d.is_ours from _gw_next_due(array[(select id from _private_tasks where identifier = 'mine')], place, entries) as d
$$;
create function pg_temp.beginning() returns _gw_place language sql as $$ select row(-32768, '-infinity', 0, null)::_gw_place $$;
select add_job('mine', run_at => now() + interval '1 hour', job_key => 'only');
select is(pg_temp.due(row(0, now() + interval '1 hour', id, null)::_gw_place), '01:00:00 true', 'the job at the place') from _private_jobs;
select add_job('mine', run_at => now() + interval '1 minute', queue_name => 'q', priority => 1);
select is(pg_temp.due(pg_temp.beginning()), '00:01:00 true', 'an earlier one at the next priority');
select add_job('mine', run_at => now() + interval '1 second', queue_name => 'q', priority => -32768);
select is(pg_temp.due(pg_temp.beginning()), '00:00:01 true', 'or at the first one');
delete from _private_jobs;
select add_job('mine', run_at => now() + interval '1 hour', priority => -1);
select count(*) from add_jobs(array(select row('other', null, null, now() + interval '1 hour', null, null, null, null)::job_spec
                                      from generate_series(1, 50)));
select is(pg_temp.due(pg_temp.beginning()), '01:00:00 true', 'at equal times that of our task');
update _private_jobs set run_at = now() + interval '0.5 seconds' where priority = 0;
select is(pg_temp.due(pg_temp.beginning()), '00:00:00.5 false', 'earlier, that of others');
select count(*) from add_jobs(array(select row('other', null, null, now() + interval '1 hour', null, null, n, null)::job_spec
                                      from generate_series(1, 500) as n));
select is(pg_temp.due(pg_temp.beginning()), '00:00:00.5 false', 'also where there are so many priorities that others may have jobs then');
update _private_jobs set run_at = run_at + interval '1 us' where priority = 0;
select is(pg_temp.due(pg_temp.beginning()), '00:00:00.5 true', 'where this is assumed');

select * from finish();
rollback;
