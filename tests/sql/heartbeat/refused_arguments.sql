-- Arrays of ids and leases that do not correspond are refused.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select register_worker('worker');
select throws_ok($$ select heartbeat('worker', '{1,2}', '{7}') $$, 'GWWOB');
select throws_ok($$ select heartbeat('worker', '{1,1}', '{7,7}') $$, 'GWWOB');

select * from finish();
rollback;
