-- A worker that wakes up deletes its own mark, if there is one.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select set_setting('notify', 'idle');
select fall_asleep('worker'), fall_asleep('other');
select wake_up('worker');
select results_eq($$ select worker_id from _gw_sleepers $$, $$ values ('other') $$,
  'the mark of the other worker stays');
select lives_ok($$ select wake_up('worker') $$, 'wake_up() does not fail for a worker without a mark');

select * from finish();
rollback;
