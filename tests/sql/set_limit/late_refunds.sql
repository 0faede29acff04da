-- A job that goes back long after its claim gives back no more of the rate than is left of its start: else the next jobs would
-- start faster than the rate allows.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.later(elapsed interval)
  returns void
  language sql
as $$
  update _gw_gates set theoretic_at = theoretic_at - elapsed;
  update _gw_gate_ends set at = at - elapsed;
  update _private_jobs set locked_at = locked_at - elapsed where locked_at is not null;
$$;

select set_limit('calls', tasks => '{call}', rate => 1, per => '1 hour');
select get_job_batch('worker') from generate_series(1, 3);
select add_job('call', job_key => n::text, run_at => '2020-01-01'::timestamptz + n * interval '1 day') from generate_series(1, 9) as n;
select is((select array_agg(key) from get_job_batch('worker', batch_size => 100)), '{1}',
  'the rate lets one job start');
select pg_temp.later('2 hours');
select is((select array_agg(key) from get_job_batch('worker', batch_size => 100)), '{2}',
  'the rate lets another job start two hours later');
select return_job('worker', id) from jobs where key = '1';
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 0::bigint,
  'a job that goes back after its time is over refunds nothing');

select pg_temp.later('90 minutes');
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 1::bigint,
  'the rate lets one job start after its time');
select return_job('worker', id) from jobs where locked_at is not null and key <> '2';
select is((select count(*) from get_job_batch('worker', batch_size => 100)), 1::bigint,
  'a job that goes back at once refunds its start');

select set_limit('mails', tasks => '{mail}', by => 'payload:a', rate => 2, per => '1 hour');
select add_job('mail', '{"a": 1, "b": 1}') from generate_series(1, 2);
select return_job('worker', id) from get_job_batch('worker', '{mail}', batch_size => 2);
select set_limit('mails', tasks => '{mail}', by => 'payload:b', rate => 2, per => '1 hour');
update _gw_gates set theoretic_at = theoretic_at - interval '1 minute'; -- for the time between the claim and the returns
select is((select count(*) from get_job_batch('worker', '{mail}', batch_size => 2)), 2::bigint,
  'jobs that go back refund their starts although by has changed since');

select * from finish();
rollback;
