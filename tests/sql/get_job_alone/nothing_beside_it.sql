-- The jobs of a dead worker are claimed alone: with a function of their own, and with no other job.
begin;
select plan(10);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');

select register_worker('dead');
select add_job('task', job_key => k) from unnest(array['1', '2', '3']) as k;
select get_job_batch('dead', batch_size => 3);
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select add_job('task', job_key => 'innocent'), add_job('task', job_key => 'in a queue', queue_name => 'q');

select set_eq($$ select key from get_job_batch('other', batch_size => 9) $$, array['innocent', 'in a queue'],
              'ordinary claims skip the jobs of a dead worker');
create temp table alone as select * from get_job_alone('worker');
select results_eq($$ select key, attempts, last_error is not null from alone $$, $$ values ('1', 2::smallint, true) $$,
                  'a job of a dead worker is claimed alone, with its second attempt and its last error');
select add_job('task', job_key => 'more'), add_job('task', job_key => 'more in a queue', queue_name => 'q2');
select is_empty($$ select key from get_job_batch('worker', batch_size => 9) $$,
  'a worker that holds a suspect claims no other job');
select is_empty($$ select key from get_job_alone('worker') $$, 'a worker that holds a suspect claims no other suspect');
select results_eq($$ select key from get_job_alone('third') $$, array['2'], 'another worker can claim another suspect');
select ok(exists (select from fail_job('worker', id, 'no luck', lease, retry_in => '0')),
  'a suspect can fail') from alone;
select results_eq($$ select key from get_job_alone('worker') $$, array['1'], 'a failed suspect is claimed alone again');
select ok(complete_job('worker', id), 'a suspect can be completed') from alone;
select set_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['more', 'more in a queue'],
              'a worker claims other jobs after it has completed its suspect');
select results_eq($$ select key from get_job('one by one') $$, array['3'],
  'a worker that runs one job at a time claims suspects with get_job');

select * from finish();
rollback;
