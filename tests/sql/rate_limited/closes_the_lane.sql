-- A job that a service refuses goes back as if it had not been claimed, and closes its lane.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select set_limit('calls', tasks => '{call}', max_running => 2);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('call', job_key => n::text) from generate_series(1, 5) as n;
select add_job('other', job_key => 'other');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 3::bigint, 'two calls run');
select ok(rate_limited('worker', (select id from jobs where key = '1'), null, '1 hour'), 'one is refused');
select is((select attempts from jobs where key = '1'), 0::smallint, 'which is no attempt');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 0::bigint, 'no call starts');
select ok((select reason = 'closed' and until > clock_timestamp() + interval '59 minutes' from list_lanes('calls')), 'for this time');
select ok(not rate_limited('other', (select id from jobs where key = '2'), null, '1 hour'), 'only the holder can say so');
select ok(rate_limited('worker', (select id from jobs where key = 'other'), null, '1 hour'), 'a job without limits');
select ok((select run_at > now() + interval '59 minutes' from jobs where key = 'other'), 'waits itself');

select * from finish();
rollback;
