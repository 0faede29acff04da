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
select is(pg_temp.looks_at('-1 second'), null, 'a look of the claim cursor a second ago has no due time');
select is(pg_temp.looks_at('-999999 us'), now(), 'a look of the claim cursor less than a second ago is due now');
select is(pg_temp.looks_at('1 second'), now() + interval '1 second',
  'a look of the claim cursor in the future is due at its time');
select set_config('gw.claim_cursor', '', false);

select add_job('mine', run_at => now() + interval '1 hour');
select count(*) from add_jobs(array(select row('other', null, null, now() + interval '1 second', null, null, null, null)::job_spec
                                      from generate_series(1, 50)));
select is(next_run_at('{mine}'), now() + interval '1 hour',
  'the search goes on past jobs of other tasks that are due within a second');
update _private_jobs set run_at = run_at + interval '1 us' where run_at < now() + interval '1 hour';
select is(next_run_at('{mine}'), now() + interval '1.000001 seconds',
  'the search stops at jobs of other tasks that are due later than in a second');
select is(next_run_at('{other}'), now() + interval '1.000001 seconds',
  'the jobs at which the search stops are due for a worker that has their task');

select is(pg_temp.looks_at('1 second'), now() + interval '1 second',
  'the earlier one of the look of the claim cursor and of the due jobs counts');
select set_config('gw.claim_cursor', '', false);
delete from _private_jobs;

-- The parts of the search: the first place, and the priorities of queues, which follow each other.
create function pg_temp.due(place _gw_place, entries integer default 50) returns text language sql as $$
  select d.run_at - now() || ' ' || d.is_ours from _gw_next_due(array[(select id from _private_tasks where identifier = 'mine')], place, entries) as d
$$;
create function pg_temp.beginning() returns _gw_place language sql as $$ select row(-32768, '-infinity', 0, null)::_gw_place $$;
select add_job('mine', run_at => now() + interval '1 hour', job_key => 'only');
select is(pg_temp.due(row(0, now() + interval '1 hour', id, null)::_gw_place), '01:00:00 true',
  'the search finds the job at its first place') from _private_jobs;
select add_job('mine', run_at => now() + interval '1 minute', queue_name => 'q', priority => 1);
select is(pg_temp.due(pg_temp.beginning()), '00:01:00 true', 'the search finds an earlier job at the next priority');
select add_job('mine', run_at => now() + interval '1 second', queue_name => 'q', priority => -32768);
select is(pg_temp.due(pg_temp.beginning()), '00:00:01 true', 'the search finds an earlier job at the first priority');
delete from _private_jobs;
select add_job('mine', run_at => now() + interval '1 hour', priority => -1);
select count(*) from add_jobs(array(select row('other', null, null, now() + interval '1 hour', null, null, null, null)::job_spec
                                      from generate_series(1, 50)));
select is(pg_temp.due(pg_temp.beginning()), '01:00:00 true', 'the search returns the job of our task at equal times');
update _private_jobs set run_at = now() + interval '0.5 seconds' where priority = 0;
select is(pg_temp.due(pg_temp.beginning()), '00:00:00.5 false',
  'the search returns the job of another task if it is earlier');
select count(*) from add_jobs(array(select row('other', null, null, now() + interval '1 hour', null, null, n, null)::job_spec
                                      from generate_series(1, 500) as n));
select is(pg_temp.due(pg_temp.beginning()), '00:00:00.5 false',
  'the search returns the earlier job of another task where many priorities follow');
update _private_jobs set run_at = run_at + interval '1 us' where priority = 0;
select is(pg_temp.due(pg_temp.beginning()), '00:00:00.5 true',
  'the search assumes that an earlier job is ours where many priorities follow');

select * from finish();
rollback;
