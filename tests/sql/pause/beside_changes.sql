-- A pause of everything holds while limits change.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('a', '1');
select pause(reason => 'all of it');
select set_limit('one', tasks => '{a}', max_running => 1);
select _gw_move_jobs() from generate_series(1, 6);
select is((select count(*) from get_job('worker')), 0::bigint, 'nothing starts once the jobs are moved');
select resume();
select is((select count(*) from get_job('worker')), 1::bigint, 'until it ends');

select * from finish();
rollback;
