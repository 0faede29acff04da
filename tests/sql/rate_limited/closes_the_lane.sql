-- A job that a service refuses goes back as if it had not been claimed, and closes its lane.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select set_limit('calls', tasks => '{call}', max_running => 2);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('call', job_key => n::text) from generate_series(1, 5) as n;
select add_job('other', job_key => 'other');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 3::bigint,
  'two calls and the other job run');
select ok(rate_limited('worker', (select id from jobs where key = '1'), null, '1 hour'),
  'rate_limited() returns true for a job that the worker holds');
select is((select attempts from jobs where key = '1'), 0::smallint, 'a refused call has not used up an attempt');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 0::bigint,
  'no call starts while the lane is closed');
select ok((select reason = 'closed' and until > clock_timestamp() + interval '59 minutes' from list_lanes('calls')),
  'the lane is closed for the given time');
select ok(not rate_limited('other', (select id from jobs where key = '2'), null, '1 hour'),
  'rate_limited() returns false for a worker that does not hold the job');
select ok(rate_limited('worker', (select id from jobs where key = 'other'), null, '1 hour'),
  'rate_limited() returns true for a job without limits');
select ok((select run_at > now() + interval '59 minutes' from jobs where key = 'other'),
  'a refused job without limits waits for the given time');

select * from finish();
rollback;
