-- Each spec accepts the arguments of add_job, and its null attributes get the defaults of add_job, with and without a key.
begin;
select plan(2);
set local search_path = graphile_worker, public;

create function pg_temp.added()
  returns table (task_identifier text, queue_name text, run_at timestamptz, max_attempts smallint, priority smallint,
                 flags jsonb)
  language sql
as $$
  select j.task_identifier, j.queue_name, j.run_at, j.max_attempts, j.priority, j.flags from jobs as j order by j.id
$$;

select add_jobs(array[row('a', null, null, null, null, null, null, null)::job_spec,
                      row('b', '[1]', 'queue', '2030-01-01 00:00+00', 3::smallint, null, (-4)::smallint, '{x,y}')::job_spec,
                      row('a', null, null, null, null, null, null, '{}')::job_spec]);
create temp table plain as select * from pg_temp.added();
select results_eq(
  $$ select * from plain $$,
  $$ values ('a', null, now(), 25::smallint, 0::smallint, null::jsonb),
            ('b', 'queue', '2030-01-01 00:00+00', 3::smallint, (-4)::smallint, '{"x": true, "y": true}'),
            ('a', null, now(), 25::smallint, 0::smallint, null) $$,
  'specs without keys get the defaults of add_job');

delete from _private_jobs;
select add_jobs(array[row('a', null, null, null, null, 'one', null, null)::job_spec,
                      row('b', '[1]', 'queue', '2030-01-01 00:00+00', 3::smallint, null, (-4)::smallint, '{x,y}')::job_spec,
                      row('a', null, null, null, null, 'two', null, '{}')::job_spec]);
select results_eq($$ select * from pg_temp.added() $$, $$ select * from plain $$,
  'specs with keys get the defaults of add_job');

select * from finish();
rollback;
