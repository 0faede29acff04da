-- first_waiting() returns the due job that a claim would look at first, of every kind of job.
begin;
select plan(9);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

create function pg_temp.first(task text default null, queue text default null, max_read integer default 100000) returns bigint as $body$
  select f.job_id from first_waiting(task, queue, max_read) as f;
$body$ language sql;

select add_job('mail', run_at => now() - interval '1 hour');
select add_job('mail', queue_name => 'q', run_at => now() - interval '2 hours');
select add_job('sync', queue_name => 'q', run_at => now() - interval '3 hours');
select add_job('mail', run_at => now() + interval '1 hour', priority => -9);
select is(pg_temp.first('mail'), 2::bigint, 'the due job with the earliest run_at is the first, in a queue or not');
select is(pg_temp.first(queue => 'q'), 3::bigint, 'the job that is due longest in a queue is the first');
select is(pg_temp.first('mail', 'q'), 2::bigint, 'the first job of a task in a queue is found');
select is((select f.run_at from first_waiting('mail') as f), now() - interval '2 hours',
  'the first job is returned with its run_at');
select add_job('mail', priority => -1);
select is(pg_temp.first('mail'), 5::bigint, 'a job of an earlier priority is the first');
select set_limit('one', '{export}', by => 'payload:tenant', max_running => 1);
select add_job('export', '{"tenant":7}'), add_job('export', '{"tenant":7}', run_at => now() - interval '1 hour');
select is(pg_temp.first('export'), 7::bigint,
  'the first job of a limited task is found before a claim has looked at it');
select get_job('w', '{none}') from generate_series(1, 10);
select is(pg_temp.first('export'), 7::bigint, 'the first job of a limited task is found in its lane');
select is(pg_temp.first('mail', max_read => 0), 2::bigint, 'no more jobs without a queue are read than allowed');
select is(pg_temp.first('nothing'), null::bigint, 'no job is found of a task that does not exist');

select * from finish();
rollback;
