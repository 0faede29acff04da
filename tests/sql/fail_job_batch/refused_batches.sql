-- An invalid batch is refused as a whole.
begin;
select plan(12);
set local search_path = graphile_worker, public;

select throws_ok($$ select fail_job_batch('worker', null) $$, 'GWWOB', 'Failures must be a JSON array of objects.');
select throws_ok($$ select fail_job_batch('worker', '{"id": 1}') $$, 'GWWOB', 'Failures must be a JSON array of objects.');
select throws_ok($$ select fail_job_batch('worker', '[1]') $$, 'GWWOB', 'A failure must be an object with a numeric id, not 1.');
select throws_ok($$ select fail_job_batch('worker', '[{"message": "m"}]') $$,
                 'GWWOB', 'A failure must be an object with a numeric id, not {"message": "m"}.');
select throws_ok($$ select fail_job_batch('worker', '[{"id": "1"}]') $$, 'GWWOB');
select throws_ok($$ select fail_job_batch('worker', '[{"id": null}]') $$, 'GWWOB');
select throws_ok($$ select fail_job_batch('worker', '[{"id": 1, "error": "m"}]') $$, 'GWWOB', 'A failure has no key ''error''.');
select throws_ok($$ select fail_job_batch('worker', '[{"id": 1}, {"id": 2}, {"id": 1}]') $$,
                 'GWWOB', 'A job id must not be null, nor be repeated in one call.');
select throws_ok(
  $$ select fail_job_batch('worker', '[{"id": 1, "retry_in": 1, "retry_at": "2030-01-01"}]') $$,
  'GWWRT', 'Give retry_at or retry_in, not both: job 1.');
select throws_ok($$ select fail_job_batch('worker', '[{"id": 1.5}]') $$, '22P02', null,
  'an id that is not a whole number is refused');
select throws_ok($$ select fail_job_batch('worker', '[{"id": 1, "lease": "mine"}]') $$, '22P02', null,
  'a lease that is not a number is refused');
select throws_ok($$ select fail_job_batch('worker', '[{"id": 1, "retry_in": "soon"}]') $$, '22P02', null,
                 'a retry_in that is not a number of seconds is refused');

select * from finish();
rollback;
