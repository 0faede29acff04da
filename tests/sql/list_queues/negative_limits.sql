-- Every function with a limit refuses a negative one with the name of the argument; 0 returns no rows.
begin;
select plan(22);
set local search_path = graphile_worker, public;

select add_job('t', queue_name => 'q');
select throws_ok(format('select * from %s(max_rows => -1)', f), 'GWILM', 'max_rows must be 0 or more, not -1.')
  from unnest('{list_jobs,matching_job_ids,list_queues,list_tasks,list_workers}'::text[]) as f;
select throws_ok(format('select * from %s(pages => -1)', f), 'GWILM', 'pages must be 0 or more, not -1.')
  from unnest('{list_queues,list_tasks,list_workers,queue_depth,queue_stats}'::text[]) as f;
select throws_ok($$ select jobs_for_scaling(most => -1) $$, 'GWILM', 'most must be 0 or more, not -1.');
select is_empty(format('select * from %s(max_rows => 0)', f), f || ': 0 is none')
  from unnest('{list_jobs,matching_job_ids,list_queues,list_tasks,list_workers}'::text[]) as f;
select lives_ok(format('select * from %s(pages => 0)', f), f || ': of no page')
  from unnest('{list_queues,list_tasks,list_workers,queue_depth,queue_stats}'::text[]) as f;
select is(jobs_for_scaling(most => 0), 0::bigint, 'jobs_for_scaling() counts no jobs with most => 0');

select * from finish();
rollback;
