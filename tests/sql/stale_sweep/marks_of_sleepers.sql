-- The sweep deletes the marks of workers that fell asleep and ended.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select set_setting('notify', 'idle');
select fall_asleep('here'), fall_asleep('gone');
update _gw_sleepers set until = now() - interval '1 second' where worker_id = 'gone';
select tidy();
select results_eq($$ select worker_id from _gw_sleepers $$, $$ values ('here') $$,
  'the sweep deletes the mark that is over, and no other');

select * from finish();
rollback;
