-- No more jobs of a lane start than rate and burst allow; a batch takes no more either. A job that goes back unstarted is
-- refunded.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select set_limit('calls', tasks => '{call}', rate => 3, per => '1 hour');
select get_job_batch('worker') from generate_series(1, 3);
select add_job('call', to_json(n), job_key => n::text) from generate_series(1, 9) as n;
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 3::bigint, 'a batch takes the burst, by default the rate');
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 0::bigint,
  'no job starts after the burst');
select complete_job('worker', id) from jobs where key = '1';
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 0::bigint,
  'no job starts after the burst although one has ended');
select ok((select r.until between clock_timestamp() + interval '19 minutes' and clock_timestamp() + interval '21 minutes' and r.reason = 'rate'
             from list_lanes('calls') as r), 'the next job may start after a third of the hour');
select is(next_run_at(), (select r.until from list_lanes('calls') as r),
  'the next due time is that at which the rate lets a job start');
update _gw_gates set theoretic_at = theoretic_at - interval '20 minutes';
update _gw_gate_ends set at = at - interval '20 minutes';
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 1::bigint,
  'one job starts after a third of the hour');
select return_job('worker', id) from jobs where key = '2';
select is((select array_agg(key) from get_job_batch('worker', batch_size => 100)), '{2}',
  'a job that goes back is refunded and starts again');
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 0::bigint,
  'a job that goes back is refunded once');

select set_limit('calls', tasks => '{call}', rate => 1000000, per => '1 second', burst => 5);
update _gw_gates set theoretic_at = 'epoch';
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 5::bigint,
  'as many jobs start at once as burst allows');

select * from finish();
rollback;
