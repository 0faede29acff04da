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
              'ordinary claims skip them');
create temp table alone as select * from get_job_alone('worker');
select results_eq($$ select key, attempts, last_error is not null from alone $$, $$ values ('1', 2::smallint, true) $$,
                  'one is claimed, as by any claim');
select add_job('task', job_key => 'more'), add_job('task', job_key => 'more in a queue', queue_name => 'q2');
select is_empty($$ select key from get_job_batch('worker', batch_size => 9) $$, 'its worker gets no other job');
select is_empty($$ select key from get_job_alone('worker') $$, 'not even another such job');
select results_eq($$ select key from get_job_alone('third') $$, array['2'], 'another worker can claim it');
select ok(exists (select from fail_job('worker', id, 'no luck', lease, retry_in => '0')), 'it fails') from alone;
select results_eq($$ select key from get_job_alone('worker') $$, array['1'], 'and is still claimed alone');
select ok(complete_job('worker', id), 'it is done') from alone;
select set_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['more', 'more in a queue'],
              'then its worker can claim again');
select results_eq($$ select key from get_job('one by one') $$, array['3'], 'a worker that runs one job at a time needs no special claims');

select * from finish();
rollback;
