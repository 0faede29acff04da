-- Names and results of steps have limits.
begin;
select plan(9);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('task');
select get_job('w');
select throws_ok($$ select save_step('w', 1, null, null, '1') $$, 'GWWSN', 'The name of a step must have 1 to 128 characters; it is null.');
select throws_ok($$ select save_step('w', 1, null, '', '1') $$, 'GWWSN', 'The name of a step must have 1 to 128 characters; it has 0.');
select throws_ok($$ select save_step('w', 1, null, repeat('ä', 129), '1') $$, 'GWWSN', 'The name of a step must have 1 to 128 characters; it has 129.');
select lives_ok($$ select save_step('w', 1, null, repeat('ä', 128), '1') $$, 'a name of 128 characters is accepted');
select throws_ok($$ select save_step('w', 1, null, 'large', ('"' || repeat('x', 1048575) || '"')::json) $$, 'GWWSR',
                 'The result of the step ''large'' has 1048577 bytes; the maximum is 1048576.');
select lives_ok($$ select save_step('w', 1, null, 'large', ('"' || repeat('x', 1048574) || '"')::json) $$,
  'a result of 1 MiB is accepted');
select throws_ok($$ select save_step(null, 1, null, 'a', '1') $$, 'GWWLL', 'Worker null does not hold job 1 any more, so the step ''a'' was not saved.');
select throws_ok($$ select save_step('w', null, null, 'a', '1') $$, 'GWWLL', 'Worker ''w'' does not hold job null any more, so the step ''a'' was not saved.');
select is((select count(*) from job_steps(1)), 2::bigint, 'refused calls save no step');

select * from finish();
rollback;
