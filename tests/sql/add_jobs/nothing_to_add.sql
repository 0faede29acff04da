-- An empty array, or null, adds nothing and is not an error.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select is_empty($$ select id from add_jobs('{}') $$, 'an empty array gives no row');
select is_empty($$ select id from add_jobs(null) $$, 'null gives no row');
select is_empty($$ select id from _private_jobs $$, 'no job was added');

select * from finish();
rollback;
