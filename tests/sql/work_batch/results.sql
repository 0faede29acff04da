-- The value of a function is the result of its job, where somebody asked for it.
begin;
select plan(8);
\ir ../work_batch.psql
create table public.numbers (id bigint, n integer);
create function public.double(payload json) returns bigint language plpgsql as $$
begin
  perform public.work(payload);
  return 2 * (payload ->> 'n')::bigint;
end;
$$;
create function pg_temp.results() returns text language sql as $$
  select string_agg(concat_ws(' ', t.n, r.state, r.result), ', ' order by t.n)
    from public.numbers as t
    left join job_results(array(select u.id from public.numbers as u)) as r using (id)
$$;
create function pg_temp.add(first integer, last integer, what text default null) returns void language sql as $$
  delete from public.numbers;
  select pg_temp.jobs_to_do(first, last, what);
  insert into public.numbers select id, (payload ->> 'n')::integer from _private_jobs
$$;

select pg_temp.add(1, 3);
select is((select b.failed from pg_temp.batch('public.double') as b), '{}', 'nobody asked');
select is(pg_temp.results(), '1 gone, 2 gone, 3 gone', 'so nothing is kept');

select pg_temp.add(1, 4);
select expect_result(u.id) from public.numbers as u where u.n in (2, 4);
select count(*) from pg_temp.batch('public.double');
select is(pg_temp.results(), '1 gone, 2 completed 4, 3 gone, 4 completed 8', 'two producers did');

select keep_task('task', '1 day', results => true);
select pg_temp.add(1, 2);
select pg_temp.jobs_to_do(3, 3, 'raise'), pg_temp.jobs_to_do(4, 40);
insert into public.numbers select id, (payload ->> 'n')::integer from _private_jobs where payload ->> 'n' in ('3', '4', '40');
select is((select b.failed from pg_temp.batch('public.double') as b), array[3], 'a job fails');
select is(pg_temp.results(), '1 completed 2, 2 completed 4, 3, 4 completed 8, 40 completed 80', 'the others have results');

truncate _private_jobs, public.effects;
select set_setting('max_result', '1024');
create function public.long(payload json) returns text language sql as $$
  select repeat('x', case when payload ->> 'n' = '2' then 1023 else 1022 end) from (select public.work(payload) offset 0) as w
$$;
select pg_temp.add(1, 3);
select is((select b.failed from pg_temp.batch('public.long') as b), array[2], 'a result that is too large fails its job');
select results_eq(
  $$ select n from public.effects $$, $$ values (1), (3) $$, 'and undoes its effects');
select matches(
  (select last_error from _private_jobs),
  '^public.long: The result of job [0-9]+ has 1025 bytes; the setting max_result allows 1024. \(SQLSTATE GWWRS\)\nHINT: Store large',
  'with this error');

select * from finish();
rollback;
