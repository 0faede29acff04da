-- Of the jobs that a dead worker held in one queue by one claim only the first can have started: it is the suspect, its attempt
-- counts and it waits for its back-off. The others get their attempts back, are due at once and are not claimed together again.
begin;
select plan(8);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('dead');
select add_job('task', to_json(p), 'q', priority => p) from unnest('{4,3,2,1}'::integer[]) as p; -- the order of the ids is the opposite
select add_job('task', '5', 'single', priority => 5), add_job('task', '6', priority => 6);
select get_job_batch('dead', batch_size => 9, queue_batch => 4);
select add_job('task', '7', 'q', priority => 7);
select complete_job('dead', id) from _private_jobs where priority = 1;
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 5::bigint) $$,
  'the silent worker is found dead, and its five jobs are freed');

select is(array(select j.priority::integer from _gw_suspects as s join _private_jobs as j on j.id = s.job_id order by 1), '{2,5,6}',
  'only the first job of each claim of a queue, and a job without one, are suspects');
select is(array(select j.priority::integer from _private_jobs as j where j.attempts = 0 order by 1), '{3,4,7}',
  'the other jobs have their attempts back');
select is(array(select j.priority::integer from _private_jobs as j where j.run_at > now() + interval '1 second' order by 1), '{2,5,6}',
  'the suspects wait for their back-off');
select is((select count(*) from _private_job_queues where locked_at is null), 2::bigint,
  'the queues of the dead worker are free');
select results_eq($$ select payload::text from get_job_batch('worker', batch_size => 9, queue_batch => 9) $$, array['3'],
                  'the job behind the suspect is claimed without those that the dead worker has held with it');
select complete_job('worker', id) from _private_jobs where priority = 3;
select results_eq($$ select payload::text from get_job_batch('worker', batch_size => 9, queue_batch => 9) $$, array['4', '7'],
                  'the next one is claimed together with a job that the dead worker has not held');
select fail_job('worker', id, 'x', permanent => true) from _private_jobs where locked_by = 'worker';
select results_eq($$ select payload::text from get_job_alone('worker', now => now() + interval '1 hour') $$, array['2'],
  'the suspect runs alone');

select * from finish();
rollback;
