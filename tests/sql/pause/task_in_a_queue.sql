-- A paused task is paused in named queues, too; the other jobs of these queues continue, one at a time.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.next()
  returns text
  language sql
as $$
  with claimed as materialized (select b.id, b.payload::text as payload, b.queue_name from get_job_batch('worker', batch_size => 100) as b),
       done as (select complete_job('worker', c.id) from claimed as c)
  select concat_ws(' ', (select string_agg(concat_ws(' in ', c.payload, c.queue_name), ', ' order by c.payload) from claimed as c),
                   (select max('') from done));
$$;

select add_job('a', '1', 'q'), add_job('b', '2', 'q'), add_job('a', '3');
select pause(task => 'a', reason => 'a migration');
select is(trim(pg_temp.next()), '2 in q', 'only jobs of other tasks start');
select add_job('a', '4', 'q');
select is(trim(pg_temp.next()), '', 'new jobs of the paused task do not start');
select results_eq($$ select distinct w.reason, w.detail ~ 'The task a is paused by .* a migration' from jobs as j, why(j.id) as w $$,
                  $$ values ('paused', true) $$, 'why() says that the task is paused, by whom and why');
select resume(task => 'a');
select is(trim(pg_temp.next()), '1 in q, 3', 'one job of the queue starts when its task is resumed');
select is(trim(pg_temp.next()), '4 in q', 'the next job of the queue starts when the first has ended');
select is_empty($$ select 1 from _gw_pauses union all select 1 from _gw_limits union all select 1 from _gw_lanes union all select 1 from _gw_gates $$,
  'the pause leaves no rows of pauses, limits, lanes and gates');

select * from finish();
rollback;
