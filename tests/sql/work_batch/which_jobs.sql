-- A batch takes due jobs of its task in the order of jobs, but none that others may have to wait for, and none that ordinary claims must
-- decide about.
begin;
select plan(13);
\ir ../work_batch.psql
create function pg_temp.done() returns text language sql as $$
  select pg_temp.batch();
  select string_agg(n::text, ' ') from public.effects
$$;

select pg_temp.jobs_to_do(1, 3);
update _private_jobs set priority = -1 where payload ->> 'n' = '2';
update _private_jobs set run_at = run_at - interval '1 hour' where payload ->> 'n' = '3';
select is(pg_temp.done(), '2 3 1', 'the order is priority, run_at, id');

truncate public.effects;
select add_job('task', '{"n": 1}', job_key => 'key'), add_job('task', '{"n": 2}', queue_name => 'queue'),
       add_job('task', '{"n": 3}', flags => array['flag']), add_job('other', '{"n": 4}'),
       add_job('task', '{"n": 5}', run_at => now() + interval '1 second'),
       add_job('task', json_build_object('n', 6, 'large', repeat('x', 9000))),
       add_job('task', json_build_object('n', 7, 'large', repeat(md5('x'), 200) || (select string_agg(md5(i::text), '') from generate_series(1, 300) as i)));
select is(pg_temp.done(), null, 'none with a key, a queue, flags, another task, a later time or a large payload');
select results_eq(
  $$ select payload ->> 'n' from get_job_batch('w', array['task'], 10) order by id $$,
  $$ values ('1'), ('2'), ('3'), ('6'), ('7') $$, 'which claims take');
delete from _private_jobs;

select pg_temp.jobs_to_do(1, 2);
update _private_jobs set attempts = 1 where payload ->> 'n' = '1';
select is(pg_temp.done(), '2', 'none that has failed before');
truncate _private_jobs, public.effects;

select pg_temp.jobs_to_do(1, 3);
insert into _gw_suspects (job_id, revision) select id, revision from _private_jobs where payload ->> 'n' = '1';
insert into _gw_suspects (job_id, revision) select id, revision + 1 from _private_jobs where payload ->> 'n' = '2';
select is(pg_temp.done(), '2 3', 'no suspect');
truncate _private_jobs, _gw_suspects, public.effects;

select set_limit('few', tasks => array['task'], max_running => 1);
select pg_temp.jobs_to_do(1, 2);
select is(pg_temp.done(), null, 'none with a limit');
select drop_limit('few');
truncate _private_jobs, _gw_fronts, _gw_groups, _gw_lanes, _gw_moves;

select pg_temp.jobs_to_do(1, 2);
select pause();
select is(pg_temp.done(), null, 'none while everything is paused');
select resume();
delete from _gw_fronts;
select is(pg_temp.done(), '1 2', 'and all after that');
truncate public.effects;

select pg_temp.jobs_to_do(1, 9);
select is((select cardinality(ids) from pg_temp.batch(size => 4)), 4, 'no more than asked for');
select pg_temp.begin_batches(3);
select is((select cardinality(ids) from pg_temp.batch()), 3, 'nor than recorded');
select _gw_leave_batches('w', array[0]);
select is((select cardinality(ids) from pg_temp.batch()), 0, 'nor any without a record');
select is(_gw_begin_batches('nobody', 0, 'task', 1), false, 'and nobody has one who is not registered');
select pg_temp.begin_batches();
select results_eq(
  $$ select b.ran, b.last_id = l.id, b.last_run_at = l.run_at
       from (select max(id) as id, max(run_at) as run_at from _private_jobs) as l
      cross join _gw_work_batch('w', 0, 'public.work', from_priority => 0::smallint, from_run_at => l.run_at, from_id => l.id) as b $$,
  $$ values (1, true, true) $$, 'a batch begins where it is told to');

select * from finish();
rollback;
