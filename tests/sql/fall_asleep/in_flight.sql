-- Who asks which transactions are in flight is in none of them.
begin;
create temp table own as select txid_current() as id, graphile_worker.still_in_flight() as ids;
select plan(2);
set local search_path = graphile_worker, public;

select is(ids @> array[id], false, 'whoever asks first for an id') from own;
select is(still_in_flight() @> array[txid_current()], false, 'or for all ids');

select * from finish();
rollback;
