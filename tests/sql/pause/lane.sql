-- A limit, or one of its lanes, can be paused; full lanes stay full when the pause ends.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select set_limit('tenants', by => 'payload:tenant', max_running => 1);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('task', json_build_object('tenant', n % 3)) from generate_series(1, 9) as n;
select pause(limit_name => 'tenants', lane => '1');
select is((select string_agg(payload ->> 'tenant', ' ') from get_job_batch('worker', batch_size => 9)), '2 0',
  'jobs of lanes that are not paused start');
select is((select reason from list_lanes('tenants') where lane = '1'), 'paused', 'list_lanes() shows the paused lane');
select pause(limit_name => 'tenants');
select resume(limit_name => 'tenants', lane => '1');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 0::bigint,
  'no job starts while the limit is paused');
select resume(limit_name => 'tenants');
select is((select string_agg(payload ->> 'tenant', ' ') from get_job_batch('worker', batch_size => 9)), '1',
  'the job of the lane starts when both pauses have ended');
select is((select array_agg(reason) from list_lanes('tenants')), '{full,full,full}',
  'all lanes are full after the pauses');

select * from finish();
rollback;
