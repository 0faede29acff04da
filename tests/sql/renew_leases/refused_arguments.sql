-- Arrays of ids and leases that do not correspond are refused; a job without a lease does not count as held.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task');
create temp table claimed as select * from get_job('worker');
select throws_ok($$ select renew_leases('worker', '{1,2}', '{7}') $$, 'GWWOB');
select throws_ok($$ select renew_leases('worker', '{1,1}', '{7,7}') $$, 'GWWOB');
select is_empty(
  $$ select renew_leases('worker', array[id], null) from claimed
      union all
     select renew_leases('worker', array[id], '{null}') from claimed $$,
  'a job without its lease does not count as held');
select is_empty($$ select renew_leases('worker', '{}', '{}') $$, 'an empty batch does nothing');

select * from finish();
rollback;
