-- An empty array, or null, adds nothing and is not an error.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select is_empty($$ select id from add_jobs('{}') $$, 'an empty array gives no row');
select is_empty($$ select id from add_jobs(null) $$, 'add_jobs(null) returns no row');
select is_empty($$ select id from _private_jobs $$, 'calls without specs add no job');

select * from finish();
rollback;
