-- There is one result row per spec, in the order of the specs, with ids in that order: Node pairs rows with specs by
-- position, and jobs with equal priority and run_at run in the order of their ids.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.spec(task text, n integer, key text default null, queue text default null)
  returns job_spec
  language sql
as $$
  select row(task, to_json(n), queue, null, null, key, null, null)::job_spec
$$;

create temp table plain as
select a.payload::text::integer as n, a.id, a.place
  from add_jobs(array(select pg_temp.spec('task' || (n % 3), n, queue => nullif('queue' || (n % 4), 'queue0'))
                        from generate_series(1, 200) as n order by n)) with ordinality
    as a (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at,
          key, locked_at, locked_by, revision, flags, is_available, place);
select is((select count(*) from plain), 200::bigint, 'add_jobs returns one row per spec');
select is_empty($$ select n from plain where n <> place $$, 'rows without keys are in the order of their specs');
select is_empty(
  $$ select n from (select n, row_number() over (order by id) as rank from plain) as p where n <> rank $$,
  'the ids of jobs without keys are in the order of their specs');

-- Keys in falling order, every third spec without one, tasks and queues that do not exist yet.
create temp table mixed as
select a.payload::text::integer as n, a.id, a.place
  from add_jobs(array(select pg_temp.spec('mixed' || (n % 3), n,
                                          case when n % 3 > 0 then 'key' || (1000 - n) end, 'mixed' || (n % 2))
                        from generate_series(1, 200) as n order by n)) with ordinality
    as a (id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at,
          key, locked_at, locked_by, revision, flags, is_available, place);
select is((select count(*) from mixed), 200::bigint, 'add_jobs with keys returns one row per spec');
select is_empty($$ select n from mixed where n <> place $$, 'rows with keys are in the order of their specs');
select is_empty(
  $$ select n from (select n, row_number() over (order by id) as rank from mixed) as m where n <> rank $$,
  'the ids of jobs with keys are in the order of their specs, although the keys are locked in their order');

select * from finish();
rollback;
