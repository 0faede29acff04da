-- skip_reasons() returns why the functions that change jobs have skipped each of the given jobs.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create temporary table added on commit drop as
select n, (add_job('t', max_attempts => 3)).id from generate_series(1, 5) as n;
select count(*) from get_job_batch('w', batch_size => 1);                        -- 1 runs
update _private_jobs set attempts = 4 where id = (select a.id from added as a where a.n = 2); -- 2 was replaced while it ran
select permanently_fail_jobs(array(select a.id from added as a where a.n = 3));
select complete_jobs(array(select a.id from added as a where a.n = 4));

select results_eq(
  $$ select a.n, r.reason, r.locked_by
       from skip_reasons(array(select a.id from added as a union all select a.id from added as a)) as r
       join added as a using (id) order by 1 $$,
  $$ values (1, 'running', 'w'), (2, 'replaced', null), (3, 'failed', null), (4, 'gone', null), (5, 'busy', null) $$,
  'each job has one row');
select set_eq(
  $$ select a.n from added as a where a.id not in (select r.id from retry_jobs(array(select a.id from added as a)) as r) $$,
  $$ values (1), (2), (4) $$,
  'retry_jobs() skips jobs that run, were replaced or are gone');
select is_empty($$ select from skip_reasons(null) $$, 'no rows are returned for a null array');

select * from finish();
rollback;
