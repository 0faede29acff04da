-- Forbidden flags of tasks that are not an object of arrays of texts are refused, even if there is no job to claim.
begin;
select plan(10);
set local search_path = graphile_worker, public;

select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '["a"]') $$, 'GWWFF',
                 'Forbidden flags of tasks must be an object of lists, not ["a"].');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => 'null') $$, 'GWWFF',
                 'Forbidden flags of tasks must be an object of lists, not null.');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '"a"') $$, 'GWWFF');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '{"good": ["a"], "bad": "a"}') $$, 'GWWFF',
                 'Forbidden flags of the task bad must be a list of texts, not "a".');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '{"bad": null}') $$, 'GWWFF',
                 'Forbidden flags of the task bad must be a list of texts, not null.');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '{"bad": ["a", 1]}') $$, 'GWWFF',
                 'Forbidden flags of the task bad must be a list of texts, not ["a", 1].');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '{"bad": ["a", null]}') $$, 'GWWFF');
select throws_ok($$ select get_job_batch('w', task_forbidden_flags => '{"bad": [["a"]]}') $$, 'GWWFF');
select throws_ok($$ select get_job_alone('w', task_forbidden_flags => '{"bad": {"a": true}}') $$, 'GWWFF');
select lives_ok($$ select get_job_batch('w', task_forbidden_flags => '{"good": ["a", ""], "none": []}') $$,
  'lists of texts are accepted as forbidden flags');

select * from finish();
rollback;
