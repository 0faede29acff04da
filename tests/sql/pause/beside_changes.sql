-- A pause of everything holds while limits change.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('a', '1'), add_job('b', '2', 'q');
select pause(reason => 'all of it');
select set_limit('one', tasks => '{a}', max_running => 1);
select is((select count(*) from get_job('worker')), 0::bigint,
  'no job starts when a limit is set while everything is paused');
select drop_limit('one');
select is((select count(*) from get_job('worker')), 0::bigint,
  'no job starts when a limit is dropped while everything is paused');
select resume();
select is((select count(*) from get_job_batch('worker', batch_size => 10)), 2::bigint,
  'all jobs start when the pause of everything has ended');

select * from finish();
rollback;
