-- Jobs that services refuse go back together: the lanes of each are closed, jobs without limits wait themselves.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select set_limit('calls', tasks => '{call}', by => 'payload:host', max_running => 2);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('call', json_build_object('host', n % 3), job_key => n::text) from generate_series(1, 6) as n;
select add_job('other', job_key => 'other');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 7::bigint, 'all seven jobs run');
select results_eq(
  $$ select j.key, r.state, r.attempts
       from rate_limited_batch('worker', array(select id from jobs where key in ('1', '2', 'other') order by key desc),
                               array(select (extract(epoch from locked_at) * 1000000)::bigint from jobs where key in ('1', '2', 'other')), '1 hour') as r
       join jobs as j on j.id = r.id
      order by j.key $$,
  $$ values ('1', 'ready', 0::smallint), ('2', 'ready', 0::smallint), ('other', 'scheduled', 0::smallint) $$,
  'each refused job is returned with its state and attempts');
select is(array(select lane from list_lanes('calls') where reason = 'closed' order by 1), '{1,2}'::text[],
  'the lanes of the refused jobs are closed');
select is(array(select lane from list_lanes('calls') where until > clock_timestamp() + interval '59 minutes' order by 1), '{1,2}'::text[],
  'the lanes are closed for the given time');
select is((select count(*) from rate_limited_batch('worker', array(select id from jobs where key = '3'), '{1}', '1 hour')), 0::bigint,
  'a job with another lease is not refused');
select throws_ok($$ select rate_limited_batch('worker', '{1}', null, '0') $$, 'GWWEX', null,
  'a time of zero is refused');

select * from finish();
rollback;
