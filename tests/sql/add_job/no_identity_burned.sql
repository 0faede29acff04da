-- Only new rows consume ids: adding jobs with known names, deduplication and replacement by key consume no sequence value.
begin;
select plan(3);
set local search_path = graphile_worker, public;

-- What the next draw would give; a sequence's state is not part of the transaction, so only differences count.
create function pg_temp.drawn()
  returns bigint[]
  language sql
as $$
  select array[(select last_value from tasks_id_seq), (select last_value from job_queues_id_seq),
               (select last_value from jobs_id_seq1)]
$$;

select add_job('task', queue_name => 'queue', job_key => 'key');
create temp table before as select pg_temp.drawn() as drawn;

select add_job('task', queue_name => 'queue', job_key => 'key'),
       add_job('task', job_key => 'key', job_key_mode => 'preserve_run_at'),
       add_job('task', queue_name => 'queue', job_key => 'key', job_key_mode => 'unsafe_dedupe'),
       add_jobs(array[row('task', null, 'queue', null, null, 'key', null, null)::job_spec,
                      row('task', null, 'queue', null, null, 'key', null, null)::job_spec]);
select is(pg_temp.drawn(), (select drawn from before), 'replacing and deduping draw nothing');

select add_job('task', queue_name => 'queue') from generate_series(1, 3);
select is(
  pg_temp.drawn(),
  (select array[drawn[1], drawn[2], drawn[3] + 3] from before),
  'known names draw nothing, each job draws one id');

select add_jobs(array[row('task', null, 'queue', null, null, 'key', null, null)::job_spec,
                      row('task', null, 'queue', null, null, 'new', null, null)::job_spec,
                      row('task', null, null, null, null, 'new', null, null)::job_spec,
                      row('task', null, null, null, null, null, null, null)::job_spec]);
select is(
  pg_temp.drawn(),
  (select array[drawn[1], drawn[2], drawn[3] + 5] from before),
  'add_jobs draws one id for each row that it makes');

select * from finish();
rollback;
