-- Above READ COMMITTED, deleting a row that another session deletes at the same time is an error, so contexts are not
-- cleaned up there.
begin isolation level repeatable read;
select plan(3);
set local search_path = graphile_worker, public;

select _gw_put_job_contexts(array[1], array[0], '{"trace": "one"}');
select lives_ok($$ select _gw_put_job_contexts(array[2], array[0], '{"trace": "two"}') $$,
  'a context can be stored in a repeatable read transaction');
select is(_gw_drop_spent_rows('_gw_job_context', 10), 0::bigint,
  'a repeatable read transaction finds no contexts to delete');
select results_eq($$ select job_id from _gw_job_context order by 1 $$, $$ values (1::bigint), (2) $$,
  'a repeatable read transaction deletes no contexts');

select * from finish();
rollback;
