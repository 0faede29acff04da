-- list_history() returns the latest records first, by each condition, and continues where a page ended.
begin;
select plan(11);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../history.psql
select keep_task('a', '1 day'), keep_task('b', '2 days');

select add_job(case when n % 2 = 0 then 'a' else 'b' end, job_key => case when n = 7 then 'k' end) from generate_series(1, 10) as n;
select count(*) from get_job_batch('w', null, 5);
select count(*) from get_job_batch('v', null, 5);
select count(*) from fail_job_batch('w', '[{"id": 1, "message": "x"}, {"id": 2, "permanent": true}]');
select count(*) from complete_job_batch('w', '{3,4,5}');
-- Three hours and a day before.
update _gw_ended set ended_at = ended_at - interval '3 hours' where outcome = 'completed';
update _gw_ended set ended_at = ended_at - interval '1 day' where outcome <> 'completed';
select pg_temp.pack();
select count(*) from complete_job_batch('v', '{6,7,8,9,10}');

create function pg_temp.ids(variadic ids bigint[]) returns text language sql as $$ select array_to_string(ids, ' ') $$;
select is((select string_agg(job_id::text, ' ') from list_history()), '10 9 8 7 6 5 4 3 2 1',
  'all records are returned, the latest first');
select is((select string_agg(job_id::text, ' ') from list_history(task => 'a')), '10 8 6 4 2',
  'the records of a task are returned');
select is((select string_agg(job_id::text, ' ') from list_history(job_outcome => 'permanently_failed')), '2',
  'the records with an outcome are returned');
select is((select string_agg(job_id::text, ' ') from list_history(failures => true)), '2 1',
  'the records of failures are returned');
select is((select string_agg(job_id::text, ' ') from list_history(worker => 'w')), '5 4 3 2 1',
  'the records of a worker are returned');
select is((select string_agg(job_id::text, ' ') from list_history(job_key => 'k')), '7',
  'the records under a key are returned');
select is((select string_agg(job_id::text, ' ') from list_history(since => now() - interval '4 hours')), '10 9 8 7 6 5 4 3',
  'the records since a time are returned');
select is((select string_agg(job_id::text, ' ') from list_history(until => now() - interval '4 hours')), '2 1',
  'the records until a time are returned');
select is((select string_agg(job_id::text, ' ') from list_history(max_rows => 3)), '10 9 8',
  'the first page has the latest records');
with recursive page as (
  select 0 as n, null::timestamptz as at, null::bigint as id, '{}'::bigint[] as ids
  union all
  select p.n + 1, (select l.ended_at from list_history(before_at => p.at, before_id => p.id, max_rows => 3) as l order by l.ended_at, l.job_id limit 1),
         (select l.job_id from list_history(before_at => p.at, before_id => p.id, max_rows => 3) as l order by l.ended_at, l.job_id limit 1),
         array(select l.job_id from list_history(before_at => p.at, before_id => p.id, max_rows => 3) as l)
    from page as p
   where p.n < 4
)
select is((select string_agg(array_to_string(ids, ' '), ' / ' order by n) from page where n > 0), '10 9 8 / 7 6 5 / 4 3 2 / 1',
  'each page continues where the one before has ended');
select throws_ok($$ select list_history(max_rows => -1) $$, 'GWILM', null, 'a negative number of rows is refused');

select * from finish();
rollback;
