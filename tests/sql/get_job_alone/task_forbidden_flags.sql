-- A job that has to run alone is also skipped if it has a forbidden flag of its task; then it does not block other jobs.
begin;
select plan(8);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

select add_job('one', job_key => 'one', flags => '{slow}'), add_job('two', job_key => 'two', flags => '{slow}', priority => 1),
       add_job('one', job_key => 'head', queue_name => 'q', flags => '{slow}', priority => 2);
select pg_temp.suspect(id) from jobs;
select add_job('two', job_key => 'behind', queue_name => 'q', priority => 3), add_job('one', job_key => 'plain', priority => 4);

select is((select key from get_job_alone('w1', task_forbidden_flags => '{"one": ["slow"]}')), 'two',
  'the suspect of the task without the forbidden flag is claimed');
select is_empty($$ select key from get_job_alone('w2', task_forbidden_flags => '{"one": ["slow"]}') $$,
  'no suspect with the forbidden flag of its task is claimed');
select is_empty($$ select key from get_job_batch('w1', task_forbidden_flags => '{"two": ["slow"]}') $$,
                'a worker that runs a suspect claims no other job');
select results_eq($$ select key from get_job_batch('w2', batch_size => 9, task_forbidden_flags => '{"two": ["slow"]}') $$,
                  array['behind', 'plain'], 'the queue of a suspect continues with its next job');
select complete_job('w2', id) from _private_jobs where key = 'behind';
select is((select key from get_job_alone('w3', task_forbidden_flags => '{"two": ["slow"]}')), 'one',
  'suspects without the forbidden flag of their task are claimed in order');
select is((select key from get_job_alone('w4', task_forbidden_flags => '{}')), 'head',
  'a suspect in a queue is claimed if no flag is forbidden');

select add_job('one', job_key => 'ahead', queue_name => 'r', flags => '{slow}'), add_job('two', job_key => 'suspect', queue_name => 'r');
select pg_temp.suspect(id) from jobs where key = 'suspect';
select is_empty($$ select key from get_job_alone('w5') $$, 'a suspect in a queue waits for the job in front of it');
select is((select key from get_job_alone('w5', task_forbidden_flags => '{"one": ["slow"]}')), 'suspect',
  'a suspect in a queue does not wait for a job with the forbidden flag');

select * from finish();
rollback;
