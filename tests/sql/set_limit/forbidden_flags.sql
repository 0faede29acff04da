-- Jobs that a worker must not claim do not keep it from those of other lanes.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select set_limit('each', tasks => '{a}', by => 'payload:k', max_running => 1);
select get_job('worker', '{none}') from generate_series(1, 6);
select add_job('a', json_build_object('k', n), run_at => timestamptz '2020-01-01' + n * interval '1 hour',
               flags => case when n < 50 then array['heavy'] end)
  from generate_series(1, 50) as n;
select is((select payload ->> 'k' from get_job('worker', forbidden_flags => '{heavy}')), '50',
  'a worker with forbidden flags claims the job of another lane');
select is((select payload ->> 'k' from get_job('worker')), '1',
  'a worker without forbidden flags claims the first job');

select * from finish();
rollback;
