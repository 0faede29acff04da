-- Many jobs with the same run_at, as a bulk enqueue adds them, are claimed in the order of their ids.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select row('task', to_json(n), null, null, null, null, null, null)::job_spec
                                      from generate_series(1, 500) as n));
select results_eq(
  $$ select payload::text::integer from get_job_batch('worker', batch_size => 200) $$,
  $$ select n from generate_series(1, 200) as n $$,
  'a batch has the first 200 jobs in the order of their ids');
select results_eq(
  $$ select payload::text::integer from get_job_batch('worker', batch_size => 1000) $$,
  $$ select n from generate_series(201, 500) as n $$,
  'the next batch has the other jobs in the order of their ids');

select * from finish();
rollback;
