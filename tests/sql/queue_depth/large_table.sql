-- queue_depth() reads a sample of a large table, so that its cost does not depend on the number of jobs.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_jobs(array(select row('task', null, null, now() + interval '1 hour', null, null, n % 50, null)::job_spec
                        from generate_series(1, 20000) as n)) limit 1;
select add_job('task', run_at => now() - interval '1 minute', priority => 49);

create function pg_temp.pages()
  returns bigint
  language sql
as $$ select pg_relation_size('_private_jobs') / current_setting('block_size')::bigint $$;

select is((select scheduled from queue_depth(pg_temp.pages())), 20000::bigint,
  'a table with this number of pages is counted completely');
select ok((select not is_estimate from queue_depth(pg_temp.pages())),
  'the count of a table with this number of pages is not an estimate');
select ok((select is_estimate from queue_depth(pg_temp.pages() / 4)),
  'the count of a table with more pages is an estimate');
select is_empty($$ select d.* from generate_series(1, 10), queue_depth(pg_temp.pages() / 4) as d where d.scheduled not between 18500 and 21500 $$,
                'the estimate is near the number of jobs');
select is((select scale from queue_depth(pg_temp.pages())), 1::float8,
  'each counted job stands for itself if the whole table is read');
select ok((select scale between 4 and 30 from queue_depth(pg_temp.pages() / 4)),
  'each counted job stands for several if a sample is read');
select is((select oldest_ready from queue_depth(pg_temp.pages() / 4)), interval '1 minute',
  'the oldest job is found even if only a sample is read');

delete from _private_jobs where id % 2 = 0 or id < (select avg(id) from _private_jobs);
select is_empty($$ select d.* from generate_series(1, 10), queue_depth(pg_temp.pages() / 4) as d where d.scheduled not between 1000 and 9000 $$,
                'the estimate is near the number of jobs if half of the pages have no jobs');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
