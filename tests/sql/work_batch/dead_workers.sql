-- If a worker dies in a batch, the jobs that the batch may have had become suspects: the next of its task, as many as it had recorded.
begin;
select plan(7);
\ir ../work_batch.psql

select pg_temp.begin_batches(2), _gw_begin_batches('w', 1, 'task', 1);
select add_job('task', '{"n": 0}', job_key => 'key'), add_job('other');
select pg_temp.jobs_to_do(1, 5);
select lives_ok($$ select _gw_suspect_batches(array['nobody']) $$, 'of nobody');
select is((select count(*) from _gw_suspects), 0::bigint, 'there are none');
select _gw_suspect_batches(array['w']);
select results_eq(
  $$ select (j.payload ->> 'n')::integer, s.crashes::integer, s.strict, j.attempts::integer
       from _gw_suspects as s join _private_jobs as j on j.id = s.job_id and j.revision = s.revision order by j.id $$,
  $$ values (1, 0, false, 0), (2, 0, false, 0), (3, 0, false, 0) $$, 'the next three, with no attempt counted');
select is((select count(*) from _gw_batches), 0::bigint, 'the records are gone');
select is((select cardinality(ids) from pg_temp.batch()), 0, 'so the worker, if it lives, runs no more batches');

delete from _gw_suspects;
select pg_temp.begin_batches(2);
select is(_gw_begin_batches('w', 0, 'task', 4, true), true, 'a worker that starts again with the same id');
select is((select count(*) from _gw_suspects), 2::bigint, 'finds what it had recorded before');

select * from finish();
rollback;
