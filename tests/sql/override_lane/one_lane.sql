-- One lane has its own numbers.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select set_limit('tenants', by => 'payload:tenant', max_running => 1);
select get_job_batch('worker') from generate_series(1, 3);
select override_lane('tenants', 'paid', 3);
select add_job('task', json_build_object('tenant', t)) from generate_series(1, 9), unnest('{paid,free}'::text[]) as t;
select is((select count(*) from get_job_batch('worker', batch_size => 99)), 4::bigint,
  'the lane with its own number starts three jobs, the other one');
select override_lane('tenants', 'free', 2);
select is((select count(*) from get_job_batch('worker', batch_size => 99)), 1::bigint,
  'a lane with waiting jobs starts another when its number is raised');
select results_eq($$ select lane, max_running, running from list_lanes('tenants') $$, $$ values ('free', 2, 2::bigint), ('paid', 3, 3) $$,
  'list_lanes() shows the numbers of each lane');

select * from finish();
rollback;
