-- list_queues() returns the number of jobs in each state for each queue, and which worker holds it.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('t', queue_name => 'b', priority => n) from generate_series(1, 3) as n;
select add_job('t', queue_name => 'a', run_at => now() + interval '1 hour'), add_job('t', queue_name => 'a', job_key => 'failed');
select add_job('t', priority => 5);
update _private_jobs set attempts = max_attempts where key = 'failed';
select get_job('w');
select results_eq(
  $$ select queue_name, ready, scheduled, running, failed, locked_at is not null, locked_by, is_estimate from list_queues() $$,
  $$ values ('a', 0::bigint, 1::bigint, 0::bigint, 1::bigint, false, null, false), ('b', 2, 0, 1, 0, true, 'w', false) $$,
  'each queue has its jobs; jobs without a queue are not counted');
select results_eq($$ select queue_name from list_queues(max_rows => 1) $$, $$ values ('a') $$,
  'a page begins with the first queue');
select results_eq($$ select queue_name from list_queues('a') $$, $$ values ('b') $$,
  'the next page begins after the given queue');

insert into _gw_suspects (job_id, queue_name) select max(j.id), 'b' from jobs as j where j.queue_name = 'b';
update _private_jobs set job_queue_id = -2 where id = (select job_id from _gw_suspects);
select results_eq($$ select ready, scheduled, running, failed from list_queues('a') $$, $$ values (2::bigint, 0::bigint, 1::bigint, 0::bigint) $$,
                  'a held job counts for its queue');
update _private_job_queues set locked_by = 'pause', locked_at = now() where queue_name = 'a';
select results_eq($$ select queue_name, locked_at, locked_by from list_queues(max_rows => 1) $$, $$ values ('a', null::timestamptz, null::text) $$,
                  'no worker holds a queue that is paused');

select * from finish();
rollback;
