-- open_lane opens lanes that a worker has closed, and their jobs start; the audit has it.
begin;
select plan(11);
set local search_path = graphile_worker, public;

select set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 9);
select set_limit('api', tasks => '{call}', max_running => 9);
select get_job_batch('worker') from generate_series(1, 9);
select add_job('tenant', json_build_object('tenant', n)) from generate_series(1, 3) as n;
select add_job('call');
select get_job_batch('worker', batch_size => 9);
select rate_limited('worker', id, null, interval '2 hours') from jobs;
select is(array(select reason from jobs as j, why(j.id) where reason <> 'closed'), '{}',
  'all jobs wait for a closed lane');

select throws_ok($$ select open_lane('none') $$, 'GWLNM', 'There is no limit ''none''.',
  'a limit that does not exist is refused');
select throws_ok($$ select open_lane(null) $$, 'GWLNM', 'There is no limit ''null''.',
  'a limit that is null is refused');
select is(open_lane('tenants', '7'), 0::bigint, 'open_lane() opens no lane that does not exist');
select is(open_lane('tenants', '2'), 1::bigint, 'open_lane() opens one lane by its key');
select is(array(select payload ->> 'tenant' from get_job_batch('worker', batch_size => 9, now => clock_timestamp())), '{2}',
  'the opened lane starts its job');
select is(open_lane('tenants', '2'), 0::bigint, 'open_lane() does not open a lane that is open');
select is(open_lane('tenants'), 2::bigint, 'open_lane() opens all other lanes of the limit');
select is(open_lane('api'), 1::bigint, 'open_lane() opens the lane of all jobs');
select is((select count(*) from get_job_batch('worker', batch_size => 9, now => clock_timestamp())), 3::bigint,
  'the opened lanes start their jobs');
select results_eq('select act, subject from list_audit() where act = ''open lane''',
  $$ values ('open lane', 'api'), ('open lane', 'tenants'), ('open lane', 'tenants, lane 2') $$,
  'each call that has opened lanes is recorded in the audit');

select * from finish();
rollback;
