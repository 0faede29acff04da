-- Who asks which transactions are in flight is in none of them.
begin;
create temp table own as select txid_current() as id, graphile_worker.still_in_flight() as ids;
select plan(2);
set local search_path = graphile_worker, public;

select is(ids @> array[id], false,
  'the transaction of the caller is not in flight if the caller asks first for its id') from own;
select is(still_in_flight() @> array[txid_current()], false,
  'the transaction of the caller is not among all ids in flight');

select * from finish();
rollback;
