-- A job that has to run alone is held: it is in no queue until get_job_alone starts it, or somebody else makes it available or ends it.
begin;
select plan(12);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
\ir ../suspect.psql
create function pg_temp.place(job text) returns text language sql as $$
  select concat_ws(' ', coalesce(q.queue_name, j.job_queue_id::text, 'plain'),
                   case when j.job_queue_id < 0 then _gw_queue_name(j.job_queue_id, j.id) end)
    from _private_jobs as j left join _private_job_queues as q on q.id = j.job_queue_id where j.key = job
$$;

select register_worker('dead');
select add_job('task', job_key => 'started', queue_name => 'q'), add_job('task', job_key => 'waits', queue_name => 'q'),
       add_job('task', job_key => 'last', max_attempts => 1), add_job('task', job_key => 'plain');
select get_job_batch('dead', batch_size => 9, queue_batch => 2);
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is(pg_temp.place('started'), '-2 q', 'a held job keeps the name of its queue');
select is(pg_temp.place('waits'), 'q', 'a job of the dead worker that had not started is not held');
select is(pg_temp.place('last'), 'plain', 'a job whose last attempt has failed is not held');
select is(pg_temp.place('plain'), '-2', 'a job without a queue is held');

select complete_jobs(array(select id from _private_jobs where key = 'waits'));
delete from _private_job_queues;
update _private_jobs set run_at = now();
select results_eq($$ select key, queue_name from get_job_alone('worker') $$, $$ values ('started', 'q') $$,
                  'the queue of a held job is made again if it was deleted');
select fail_job('worker', id, 'no luck') from _private_jobs where key = 'started';
select is(pg_temp.place('started'), '-2 q', 'a held job that fails is held again');
select is((select locked_at from _private_job_queues where queue_name = 'q'), null,
  'the queue of a held job that failed is free');
update _private_jobs set attempts = max_attempts where key = 'started';
select * from pg_temp.beat() as b (died text[], freed bigint);
select is(pg_temp.place('started'), 'q', 'a held job that has failed permanently goes back to its queue');
select is((select count(*) from _gw_suspects), 1::bigint, 'the other held job is still a suspect');
update _private_jobs set job_queue_id = _gw_unheld(job_queue_id, id);
select is(pg_temp.place('plain'), 'plain', 'a held job without a queue that is made available is an ordinary job');
select results_eq($$ select key from get_job_batch('worker') $$, array['plain'],
  'a held job that is made available is claimed by an ordinary claim');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is_empty($$ select job_id from _gw_suspects $$, 'a job that was made available is no suspect any more');

select * from finish();
rollback;
