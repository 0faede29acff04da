-- list_workers() returns the registered workers, and those that are not registered but hold something.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select register_worker('a', '{mail}', 4, 'host', 17, 'v1'), register_worker('idle');
select add_job('mail', job_key => n::text) from generate_series(1, 3) as n;
select add_job('mail', queue_name => 'q');
update _private_jobs set locked_at = now() - key::int * interval '1 minute', locked_by = case key when '3' then 'node' else 'a' end
 where key is not null;
update _private_job_queues set locked_at = now(), locked_by = 'left a queue locked';
select results_eq(
  $$ select worker_id, is_registered, host, pid, version, concurrency, running, now() - longest_since, tasks, is_estimate from list_workers() $$,
  $$ values ('a', true, 'host', 17, 'v1', 4, 2::bigint, interval '2 minutes', '{mail}'::text[], false),
            ('idle', true, null, null, null, 1, 0, null, '{}', false),
            ('left a queue locked', false, null, null, null, null, 0, null, null, false),
            ('node', false, null, null, null, null, 1, '3 minutes', null, false) $$,
  'each worker is listed with what it holds');
select ok((select started_at <= last_seen_at from list_workers() where worker_id = 'a'),
  'a registered worker is listed with its start and last heartbeat');
select results_eq($$ select worker_id from list_workers(max_rows => 1) $$, $$ values ('a') $$,
  'a page begins with the first worker');
select results_eq($$ select worker_id from list_workers('idle') $$, $$ values ('left a queue locked'), ('node') $$,
  'the next page begins after the given worker');

select * from finish();
rollback;
