-- Jobs that no worker takes do not keep a free slot from others.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select set_limit('both', tasks => '{a,b}', max_running => 1), set_limit('b', tasks => '{b}', max_running => 1);
select get_job('worker', '{none}') from generate_series(1, 9);
select add_job('a', '1', run_at => '2020-01-01'), add_job('b', '2', run_at => '2020-01-02'), add_job('a', '3', run_at => '2020-01-03');
select is((select payload::text from get_job('worker')), '1', 'the first job runs');
select get_job('worker');
select complete_job('worker', id) from jobs where locked_by = 'worker';
select is((select payload::text from get_job('worker', '{a}')), '3',
  'a worker without the task of the next job claims a job of its own task');
select is((select count(*) from get_job('worker', '{b}')), 0::bigint,
  'no job of the other task starts while the limit is full');

select * from finish();
rollback;
