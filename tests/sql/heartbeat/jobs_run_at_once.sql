-- With recovered_jobs = run, jobs of dead workers are due at once.
begin;
select plan(1);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select set_setting('recovered_jobs', 'run');
select register_worker('dead');
select add_job('task', job_key => 'past', run_at => now() - interval '1 hour'),
       add_job('task', job_key => 'future', run_at => now() + interval '1 hour');
select get_job_batch('dead', batch_size => 9, now => now() + interval '2 hours');
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select set_eq($$ select key, run_at from _private_jobs $$,
              $$ values ('past', now()), ('future', now() + interval '1 hour') $$,
              'recovered jobs are due at once, unless they were due later anyway');

select * from finish();
rollback;
