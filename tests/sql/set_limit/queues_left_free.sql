-- A claim locks no named queue whose first job has no place in its batch, because a job with a limit comes first.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select set_limit('one', tasks => '{limited}', max_running => 1);
select get_job_batch('worker') from generate_series(1, 9);
select add_job('limited', job_key => 'limited', run_at => '2020-01-01'),
       add_job('queued', job_key => 'queued', run_at => '2020-01-02', queue_name => 'queue');
select is((select key from get_job_batch('worker')), 'limited', 'the job with a limit is claimed first');
select is((select key from get_job_batch('worker')), 'queued', 'the queue is free for the next claim');

select * from finish();
rollback;
