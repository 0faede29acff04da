-- Each heartbeat may tell how many jobs run and wait, and which: running jobs are found and counted by that where only a sample of the
-- table is read, which may contain none of them.
begin;
select plan(14);
set local search_path = graphile_worker, public;

select register_worker('a', '{mail}', 4), register_worker('silent', '{mail}', 4), register_worker('old', '{mail}', 4);
select add_job('mail', job_key => n::text) from generate_series(1, 6) as n;
update _private_jobs set locked_at = now() - key::integer * interval '1 minute', locked_by = 'a' where key in ('1', '2', '3');
update _private_jobs set locked_at = now(), locked_by = 'old' where key = '4';
create temporary table ids on commit drop as select key::integer as n, id from _private_jobs;
select heartbeat('a', running => 2, waiting => 1, claimed_ids => array(select id from ids where n in (1, 2, 3) order by n) || '{999999,null}');
select heartbeat('old');

select results_eq(
  $$ select running, claimed, now() - longest_since, told_at is not null, is_estimate from list_workers() where worker_id = 'a' $$,
  $$ values (2::bigint, 3::bigint, interval '2 minutes', true, false) $$,
  'the jobs that a worker has told to run are counted as running');
select results_eq(
  $$ select running, claimed, told_at from list_workers() where worker_id = 'old' $$,
  $$ values (1::bigint, 1::bigint, null::timestamptz) $$,
  'a worker that tells nothing runs all jobs that it holds');
select is((select s.is_sample from search_jobs('running') as s), false,
  'a search for running jobs reads the whole table');
select set_eq($$ select unnest(s.job_ids) from search_jobs('running') as s $$, $$ select id from ids where n < 5 $$,
  'a search of the whole table finds all running jobs');

-- No page is in a sample.
create or replace function _gw_share_seen(table_name text, pages bigint) returns real language sql as $$ select 0::real $$;
select results_eq(
  $$ select running, claimed, now() - longest_since, is_estimate, scale from list_workers() where worker_id = 'a' $$,
  $$ values (2::bigint, 3::bigint, interval '2 minutes', false, 1::double precision) $$,
  'the running jobs of a worker are known if only a sample is read');
select is((select running from queue_stats()), 3::bigint,
  'queue_stats() counts the jobs that a worker has told to run');
select is((select longest_running_seconds from queue_stats()), 180::double precision,
  'queue_stats() knows the longest running job');
select is((select running from list_tasks() where task_identifier = 'mail'), 3::bigint,
  'list_tasks() counts the jobs that a worker has told to run');
select is((select s.is_sample from search_jobs('running') as s), true, 'search_jobs() says that it read a sample');
select set_eq($$ select unnest(s.job_ids) from search_jobs('running') as s $$, $$ select id from ids where n < 4 $$,
  'search_jobs() finds the jobs that a worker has told');
select complete_job('a', (select id from ids where n = 1));
select is((select running from queue_stats()), 2::bigint, 'queue_stats() does not count a told job that has ended');

-- A worker that holds very many tells only some of them.
select heartbeat('a', running => 20, waiting => 1980, claimed_ids => array(select id from ids where n in (2, 3)));
select is((select running from queue_stats()), 2000::bigint,
  'each told job stands for several if a worker tells only some');
select heartbeat('a', running => 1, waiting => 1999, claimed_ids => array(select n from generate_series(1, 2000) as n));
select is((select cardinality(claimed_ids) from _gw_workers where id = 'a'), 1000,
  'a thousand ids of told jobs are stored');
select heartbeat('a');
select is((select told_at from list_workers() where worker_id = 'a'), null,
  'a heartbeat that tells nothing deletes what was told');

select * from finish();
rollback;
