-- doctor() reads a sample of a table with more pages than its limit, and reports that.
begin;
select plan(13);
set local search_path = graphile_worker, public;

insert into _private_jobs (task_id, job_queue_id, attempts, max_attempts)
select 1, n, 1, 1 from generate_series(1, 20000) as n;
insert into _private_job_queues (queue_name, locked_at, locked_by) values ('queue', now(), 'worker');

create function pg_temp.pages()
  returns bigint
  language sql
as $$ select pg_relation_size('_private_jobs') / current_setting('block_size')::bigint $$;

select is(_gw_share_seen('_private_jobs', pg_temp.pages()), 100::real, 'a table with exactly the maximum number of pages is read');
select is(_gw_share_seen('_private_jobs', pg_temp.pages() * 2), 100::real,
  'a table with fewer pages than the limit is read as a whole');
select cmp_ok(_gw_share_seen('_private_jobs', pg_temp.pages() / 2), '<=', 50::real,
  'half of a table with twice as many pages is read');
select is(_gw_share_seen('_gw_turns', 0), 0::real, 'nothing is read with a limit of no pages');

select is_empty($$ select * from _gw_find_unseen_rows(pg_temp.pages()) $$,
  'no part is reported as unread if everything is read');
select results_eq(
  $$ select severity, finding, subject from _gw_find_unseen_rows(pg_temp.pages() / 2) $$,
  $$ values ('info', 'large table', 'table _private_jobs') $$,
  'a table of which a part is read is reported');
select results_eq(
  $$ select finding from doctor(pg_temp.pages() / 2) where finding in ('large table', 'orphaned queue', 'failed jobs') $$,
  array['failed jobs', 'large table'], 'doctor() reads as much as it is told to');
select results_eq(
  $$ select finding from doctor() where finding in ('large table', 'orphaned queue', 'failed jobs') $$,
  array['orphaned queue', 'failed jobs'], 'doctor() reads all of this table by default');
select throws_ok($$ select doctor(-1) $$, 'GWILM');
select isnt_empty($$ select * from _gw_find_orphaned_queues(pg_temp.pages()) $$,
  'an orphaned queue is reported if all jobs are read');
select is_empty($$ select * from _gw_find_orphaned_queues(pg_temp.pages() - 1) $$,
  'no orphaned queue is reported if only a part of the jobs is read');

select matches(
  (select detail from _gw_find_failed_jobs(pages => pg_temp.pages() / 2)),
  '^Permanently failed jobs: about \d+\.',
  'the number of failed jobs is an estimate if only a part of the jobs is read');

update _private_jobs set attempts = 0, updated_at = now() - interval '1 hour', run_at = now() - interval '1 hour';
update _private_job_queues set locked_at = null, locked_by = null;
select results_eq(
  $$ select severity, detail ~ '^Due jobs: about \d+, ' from _gw_find_no_worker(pages => pg_temp.pages() / 2)
      union all
     select severity, detail ~ '^Due jobs: 20000, ' from _gw_find_no_worker(pages => pg_temp.pages()) $$,
  $$ values ('warning', true), ('critical', true) $$,
  'no worker is a warning only if a part of the jobs is read');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
