-- list_limits() and list_lanes() return how many due jobs wait, wherever they wait, and the lanes that start none.
begin;
select plan(17);
set local search_path = graphile_worker, public;

select add_job('tenant', '{"tenant": "old"}') from generate_series(1, 2); -- plain: before there was a limit
select set_limit('tenants', '{tenant,other}', by => 'payload:tenant', max_running => 1, total_running => 4);
select add_job('tenant', json_build_object('tenant', n % 3)) from generate_series(1, 30) as n;
select add_job('other', '{"tenant": 0}', queue_name => 'q') from generate_series(1, 3);
select add_job('tenant', '{"tenant": 1}', run_at => now() + interval '1 hour'), add_job('tenant', '{}'), add_job('else', '{"tenant": 1}');
select permanently_fail_jobs(array[(add_job('tenant', '{"tenant": 2}')).id]);

create function pg_temp.told() returns text language sql as $$
  select string_agg(coalesce(l.lane, case when l.is_total then 'all' else '-' end) || ' ' || l.running || '+' || l.waiting, ', ' order by l.is_total, l.lane)
    from graphile_worker.list_lanes('tenants') as l $$;

select results_eq($$ select waiting, more_waiting from list_limits() $$, $$ values (35::bigint, false) $$,
  'jobs that wait are counted before a claim has looked at them');
select is(pg_temp.told(), null, 'no lanes are listed before the first claim');
select count(*) from get_job_batch('worker', batch_size => 4);
select is(pg_temp.told(), '0 1+12, 1 1+9, 2 1+9, old 1+1, all 4+31',
  'jobs that wait are counted in their lanes after a claim');
select is((select waiting from list_limits()), 31::bigint, 'the limit has as many waiting jobs as its lanes together');
select count(*) from get_job_batch('worker', batch_size => 4);
select is(pg_temp.told(), '0 1+12, 1 1+9, 2 1+9, old 1+1, all 4+31', 'another claim does not change the counts');
select results_eq($$ select lane, reason, waiting from list_lanes('tenants', barred => true, max_rows => 3) $$,
                  $$ values (null, 'full', 31::bigint), ('0', 'full', 12), ('1', 'full', 9) $$,
                  'full lanes are listed, those with most waiting jobs first');
select complete_job_batch('worker', array(select id from jobs where locked_at is not null));
select is_empty($$ select lane from list_lanes('tenants', barred => true) $$,
  'no lane is full when its jobs have ended');
select pause(limit_name => 'tenants', lane => '2');
select results_eq($$ select lane, reason, waiting from list_lanes('tenants', barred => true) $$, $$ values ('2', 'paused', 9::bigint) $$,
  'a paused lane is listed as barred');
select set_limit('tenants', '{tenant}', by => 'payload:tenant', max_running => 9);
select is((select waiting from list_limits()), 28::bigint,
  'waiting jobs of tasks that a limit has no longer are not counted');
select pause(task => 'tenant');
select is((select waiting from list_limits()), 28::bigint, 'waiting jobs of a paused task are counted');

-- One lane for all, as many tasks as there are.
select set_limit('all', max_running => 1);
select results_eq($$ select name, waiting, more_waiting from list_limits() order by name $$, $$ select v.* from (select count(*) from jobs where locked_at is null and attempts < max_attempts and run_at <= now()) as c (n),
                         lateral (values ('all', c.n, false), ('tenants', 28, false)) as v $$,
                         'the limit of all tasks counts all waiting jobs');
select count(*) from get_job('w2');
select results_eq($$ select lane, waiting from list_lanes('all') $$, $$ select null::text, count(*) from jobs where locked_at is null and attempts < max_attempts and run_at <= now() $$,
  'the only lane of the limit of all tasks has all waiting jobs');

-- Of more than it reads.
select drop_limit('all'), drop_limit('tenants'), resume(task => 'tenant');
select set_limit('one', '{many}', max_running => 1), set_limit('each', '{keyed}', by => 'payload:key', max_running => 1);
select count(*) from add_jobs(array(select row('many', null, null, null, null, null, null, null)::job_spec from generate_series(1, 10002)));
select count(*) from add_jobs(array(select row('keyed', '{"key":1}', null, null, null, null, null, null)::job_spec from generate_series(1, 2001)));
select results_eq($$ select name, waiting, more_waiting from list_limits() order by name $$, $$ values ('each', 2000::bigint, true), ('one', 10000, true) $$,
                  'no more waiting jobs are counted than the bounds allow');
select count(*) from get_job_batch('w3', '{many,keyed}', batch_size => 2);
select results_eq($$ select name, running, waiting, more_waiting from list_limits() order by name $$,
                  $$ values ('each', 1::bigint, 2000::bigint, false), ('one', 1, 10000, true) $$,
                  'waiting jobs in lanes are counted up to the bounds');
select results_eq($$ select running, waiting, more_waiting from list_lanes('one') $$, $$ values (1::bigint, 10000::bigint, true) $$,
  'waiting jobs in a single lane are counted up to the bound');
select is_empty($$ select from list_limits(count_waiting => false) where waiting is not null $$,
  'waiting jobs are counted only if they are asked for');
select is_empty($$ select * from list_lanes('none') $$, 'an unknown limit has no lanes');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
