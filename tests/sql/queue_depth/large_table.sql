-- queue_depth() reads a sample of a large table, so that its cost does not depend on the number of jobs.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_jobs(array(select row('task', null, null, now() + interval '1 hour', null, null, n % 50, null)::job_spec
                        from generate_series(1, 20000) as n)) limit 1;
select add_job('task', run_at => now() - interval '1 minute', priority => 49);

create function pg_temp.pages()
  returns bigint
  language sql
as $$ select pg_relation_size('_private_jobs') / current_setting('block_size')::bigint $$;

select is((select scheduled from queue_depth(pg_temp.pages())), 20000::bigint, 'a table with this number of pages is counted completely');
select ok((select not is_estimate from queue_depth(pg_temp.pages())), 'and no estimate');
select ok((select is_estimate from queue_depth(pg_temp.pages() / 4)), 'of more it is an estimate');
select ok((select scheduled between 10000 and 30000 from queue_depth(pg_temp.pages() / 4)), 'near the truth');
select is((select oldest_ready from queue_depth(pg_temp.pages() / 4)), interval '1 minute', 'the oldest is always found');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
