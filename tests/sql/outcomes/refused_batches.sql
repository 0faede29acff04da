-- Batches with arrays that do not correspond are refused as a whole.
begin;
select plan(12);
set local search_path = graphile_worker, public;

select add_job('task');
create temp table claimed as select * from get_job('worker');

select throws_ok($$ select complete_job_batch('worker', '{1,2}', '{7}') $$,
                 'GWWOB', 'There must be one lease for each job: 2 job ids, 1 leases.');
select throws_ok($$ select return_job_batch('worker', '{1}', '{7,8}') $$,
                 'GWWOB', 'There must be one lease for each job: 1 job ids, 2 leases.');
select throws_ok($$ select complete_job_batch('worker', '{1,2,1}') $$, 'GWWOB', 'A job id must not be null, nor be repeated in one call.');
select throws_ok($$ select return_job_batch('worker', '{1,2,1}') $$, 'GWWOB', 'A job id must not be null, nor be repeated in one call.');
select throws_ok($$ select complete_job_batch('worker', '{1,null}') $$, 'GWWOB', 'A job id must not be null, nor be repeated in one call.');
select throws_ok($$ select return_job_batch('worker', '{1,null}') $$, 'GWWOB', 'A job id must not be null, nor be repeated in one call.');
select throws_ok($$ select complete_job('worker', null) $$, 'GWWOB');
select throws_ok($$ select fail_job('worker', null, 'message') $$, 'GWWOB');
select throws_ok($$ select return_job('worker', null) $$, 'GWWOB');
select throws_ok(
  $$ select complete_job_batch('worker', array[id, id], array[lease, lease]) from claimed $$,
  'GWWOB', null, 'a repeated job id is refused even with the right lease');
select is_empty(
  $$ select complete_job_batch('worker', '{}') union all select id from return_job_batch('worker', '{}', '{}') $$,
  'an empty batch does nothing');
select ok(complete_job('worker', id, lease), 'the job of the refused batches is still held') from claimed;

select * from finish();
rollback;
