-- A changed rate counts at once. The share of its burst that is used stays used: no change gives a burst twice.
begin;
select plan(13);
set local search_path = graphile_worker, public;

create function pg_temp.claimed() returns bigint as $body$
  select count(*) from get_job_batch('worker', batch_size => 100, now => clock_timestamp())
$body$ language sql;
create function pg_temp.owed(of_key text default null) returns interval as $body$
  select date_trunc('minute', g.theoretic_at - clock_timestamp() + interval '30 seconds')
    from _gw_gates as g
   where not g.is_total and g.key is not distinct from of_key
$body$ language sql;

select add_job('call', json_build_object('k', 1, 'l', 1)) from generate_series(1, 100);
select set_limit('calls', '{call}', rate => 10, per => '1 hour');
select is(pg_temp.claimed(), 10::bigint, 'the first claim takes the whole burst');
select set_limit('calls', '{call}', rate => 20, per => '1 day');
select is(pg_temp.claimed(), 0::bigint, 'the used burst stays used after a change of the rate');
select is(pg_temp.owed(), interval '1 day', 'the whole burst of the new rate is used');
select set_limit('calls', '{call}', rate => 20, per => '1 day', burst => 10);
select is(pg_temp.owed(), interval '12 hours', 'the used share of the burst does not depend on its size');
select set_limit('calls', '{call}', max_running => 15);
select is(pg_temp.claimed(), 5::bigint, 'a limit without a rate starts as many jobs as it has slots');
select set_limit('calls', '{call}', rate => 10, per => '1 hour');
select is(pg_temp.claimed(), 0::bigint, 'a rate that is set again keeps what it had started');
select is(pg_temp.owed(), interval '1 hour', 'a rate that is set again is used for no longer than it takes');
update _gw_gates set theoretic_at = clock_timestamp() + interval '30 minutes';
select set_limit('calls', '{call}', rate => 10, per => '4 hours', max_running => 100);
select is(pg_temp.owed(), interval '2 hours', 'half of the burst stays used when the interval changes');
select is(pg_temp.claimed(), 5::bigint, 'the other half of the burst starts');

-- by: other keys.
select set_limit('calls', '{call}', by => 'payload:k', rate => 10, per => '1 hour');
select is(pg_temp.claimed(), 0::bigint, 'a lane of a key begins with what the limit has used');
select override_lane('calls', '1', rate => 100, per => '1 hour');
select is(pg_temp.owed('1'), interval '1 hour', 'an override of a lane has used its burst, too');
select set_limit('calls', '{call}', by => 'payload:l', rate => 10, per => '1 hour');
select is(pg_temp.claimed(), 0::bigint, 'a lane of another key begins with what the limit has used');
select is((select count(*) from list_lanes('calls') where rate <> 10), 0::bigint,
  'a lane of another key does not have the override of the first');

select * from finish();
rollback;
