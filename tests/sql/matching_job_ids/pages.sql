-- Pages that each begin after the last id of the previous one contain every job once.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job(case when n % 3 = 0 then 'other' else 'task' end) from generate_series(1, 30) as n;

create temp table pages (page integer, id bigint);
create function pg_temp.read_pages(max_rows integer)
  returns void
  language plpgsql
as $$
declare
  got integer;
begin
  for page in 1..30 loop
    insert into pages (page, id)
    select page, m from matching_job_ids(task => 'task', after_id => (select max(p.id) from pages as p), max_rows => read_pages.max_rows) as m;
    get diagnostics got = row_count;
    exit when got = 0;
  end loop;
end
$$;
select pg_temp.read_pages(7);
select results_eq(
  $$ select id from pages order by page, id $$,
  $$ select id from jobs where task_identifier = 'task' order by id $$,
  'the pages contain all jobs in order, none twice');
select results_eq($$ select count(*)::int from pages group by page order by page $$, $$ values (7), (7), (6) $$,
  'the pages have the size that was asked for');
select is((select count(*)::int from matching_job_ids(max_rows => null)), 30, 'null for max_rows is no limit');

select * from finish();
rollback;
