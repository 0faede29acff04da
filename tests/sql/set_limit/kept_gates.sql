-- Lanes keep overrides and closings when the tasks or the numbers of their limit change, and lose them when their key does. They count
-- what runs through all changes.
begin;
select plan(10);
set local search_path = graphile_worker, public;

create function pg_temp.claimed(worker text default 'worker') returns text as $body$
  select coalesce(string_agg(b.payload ->> 'k', ' ' order by b.payload ->> 'k'), '') from get_job_batch(worker, batch_size => 100, now => clock_timestamp()) as b
$body$ language sql;

select register_worker('worker');
select set_limit('tenants', '{a}', by => 'payload:k', max_running => 1);
select override_lane('tenants', 'paid', max_running => 2);
select add_job(t, json_build_object('k', k, 'l', 'x')) from unnest('{a,b}'::text[]) as t, unnest('{closed,free,paid}'::text[]) as k, generate_series(1, 4);
select set_limit('tenants', '{a,b}', by => 'payload:k', max_running => 1);
select is(pg_temp.claimed(), 'closed free paid paid',
  'one job of each lane starts, and two of the lane with an override');
select is(pg_temp.claimed(), '', 'no more jobs start than the lanes allow');
select rate_limited('worker', j.id, null, interval '1 hour') from jobs as j join show_jobs(array[j.id]) as s on true where j.locked_by is not null and s.payload ->> 'k' = 'closed';
select set_limit('tenants', '{b}', by => 'payload:k', max_running => 1, total_running => 5);
select is((select reason from list_lanes('tenants') where lane = 'closed'), 'closed',
  'a closed lane stays closed when the tasks of its limit change');
select is((select max_running from list_lanes('tenants') where lane = 'paid'), 2,
  'the override of a lane stays when the tasks of its limit change');
select set_limit('tenants', null, by => 'payload:k', max_running => 2);
select is(pg_temp.claimed(), 'free',
  'running jobs count when the numbers of the limit change, so the free lane starts one');
select set_limit('tenants', null, by => 'payload:l', max_running => 4);
select is((select array_agg(lane || ' ' || running) from list_lanes('tenants') where running > 0), '{"x 4"}',
  'running jobs count in the lanes of the new key');
select is(pg_temp.claimed(), '', 'no job starts while the lane of the new key is full');
select is((select count(*) from list_lanes('tenants') where max_running <> 4 or reason = 'closed'), 0::bigint,
  'the lanes of the new key have neither overrides nor closings');

select drop_limit('tenants');
select is((select count(*) from _gw_gates) + (select count(*) from _gw_gate_ends), 0::bigint, 'a dropped limit leaves no lane');
select is(length(pg_temp.claimed()) > 0, true, 'the jobs of a dropped limit start');

select * from finish();
rollback;
