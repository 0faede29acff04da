-- Jobs of one claim are completed in the same way with and without queues; without ids all of them are completed.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task', to_json(n), case when n > 4 then 'queue' || n end) from generate_series(1, 6) as n;
create temp table claimed as
select id, lease, payload::text::integer as n from get_job_batch('worker', batch_size => 9);

create function pg_temp.complete(worker_id text, numbers integer[], late integer default 0)
  returns text
  language sql
as $$
  select coalesce((select string_agg(c.n::text, ',' order by c.n)
                     from claimed as c
                    where c.id = any (ids)), case when ids is null then 'all' else 'none' end)
    from _gw_complete_claim(
           worker_id,
           array(select c.id from claimed as c where c.n = any (numbers) order by c.n),
           (select min(c.lease) - late from claimed as c)) as ids
$$;

select is(pg_temp.complete('other', array[1, 5]), 'none', 'another worker holds none of the jobs');
select is(pg_temp.complete('worker', array[1, 5], late => 1), 'none', 'an earlier claim holds none of the jobs');
select is((select count(*) from _private_jobs), 6::bigint, 'refused calls complete no job');
select is(pg_temp.complete('worker', array[1, 2]), 'all', 'two jobs without a queue are completed');
select is(pg_temp.complete('worker', array[2, 3, 5]), '3,5',
  'a job that no longer exists is left out, one in a queue is completed');
select is((select locked_by from _private_job_queues where queue_name = 'queue5'), null,
  'the queue of a completed job is free');
select is(pg_temp.complete('worker', array[6]), 'all', 'a single job in a queue is completed');
select set_eq('select payload::text::integer from _private_jobs', array[4], 'jobs that were not given are kept');
select throws_ok(
  'select _gw_complete_claim(''worker'', array[0, 0]::bigint[], 1)', 'GWWOB', null, 'a repeated id is refused');

select * from finish();
rollback;
