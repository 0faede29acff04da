-- Two specs with the same key have the effect of two calls; each gets the row in its final state.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.spec(n integer, key text, run_at timestamptz default null)
  returns job_spec
  language sql
as $$
  select row('task', json_build_array(n), null, run_at, null, key, n::smallint, null)::job_spec
$$;

create temp table added as
select * from add_jobs(array[pg_temp.spec(1, 'key'), pg_temp.spec(2, 'other'), pg_temp.spec(3, 'key')]);
select results_eq(
  $$ select key, payload::text, priority, revision from added $$,
  $$ values ('key',   '[1, 3]', 3::smallint, 1),
            ('other', '[2]',    2::smallint, 0),
            ('key',   '[1, 3]', 3::smallint, 1) $$,
  'arrays are joined in the order of the specs, the last spec wins the rest, the revision counts');
select is((select count(distinct id) from added), 2::bigint, 'two specs with one key share one row');

select results_eq(
  $$ select payload::text, revision from add_jobs(array[pg_temp.spec(4, 'key'), pg_temp.spec(5, 'key')]) $$,
  $$ values ('[1, 3, 4, 5]', 3), ('[1, 3, 4, 5]', 3) $$,
  'a waiting job is replaced twice by two specs with its key');

update _private_jobs set locked_at = now(), locked_by = 'worker' where key = 'key';
create temp table again as
select * from add_jobs(array[pg_temp.spec(6, 'key'), pg_temp.spec(7, 'key')]);
select results_eq(
  $$ select payload::text, revision from again $$,
  $$ values ('[6, 7]', 1), ('[6, 7]', 1) $$,
  'a running job loses its key once, and the new job is replaced once');
select results_eq(
  $$ select attempts, max_attempts, key from _private_jobs where locked_by = 'worker' $$,
  $$ values (26::smallint, 25::smallint, null::text) $$,
  'the running job has no key and an attempt more than it may have');

select is(
  (select array_agg(run_at) from add_jobs(array[pg_temp.spec(8, 'late', now() + interval '1 hour'),
                                                pg_temp.spec(9, 'late', now() + interval '2 hours')], true)),
  array[now() + interval '1 hour', now() + interval '1 hour'],
  'job_key_preserve_run_at keeps the run_at of the first');

select * from finish();
rollback;
