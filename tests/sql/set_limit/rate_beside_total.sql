-- The starts of a limit with a rate and total_running count at the rates of their lanes, not at one of all lanes.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create function pg_temp.claimed(of_task text) returns bigint as $body$
  select count(*) from get_job_batch('worker', array[of_task], 100, now => clock_timestamp())
$body$ language sql;

select set_limit('by customer', tasks => '{a}', by => 'payload:customer', total_running => 2, rate => 2, per => '100 days');
select add_job('a', json_build_object('customer', n), flags => array['region:' || n]) from generate_series(1, 2) as n;
select is(pg_temp.claimed('a'), 2::bigint, 'a job of each customer starts');
select complete_job('worker', id) from jobs;
select set_limit('by customer', tasks => '{a}', by => 'flag:region', total_running => 2, rate => 4, per => '100 days');
select add_job('a', flags => '{region:new}') from generate_series(1, 3);
select is(pg_temp.claimed('a'), 2::bigint, 'half of the rate of each lane is left after a change of its key');

-- Thousands of years would be no timestamp.
select set_limit('long', tasks => '{b}', by => 'payload:n', total_running => 1000, rate => 1, per => '1000 years');
select add_job('b', json_build_object('n', n)) from generate_series(1, 300) as n;
select is((select sum(pg_temp.claimed('b')) from generate_series(1, 3)), 300::numeric,
  'each of 300 lanes starts a job of its thousand years');

select * from finish();
rollback;
