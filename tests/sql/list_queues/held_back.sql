-- Jobs that a pause, a limit or the death of their worker holds back are counted and found under their queue and state.
begin;
select plan(12);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

-- In a, b and c: 4 ready jobs, one scheduled, one failed, one running; of the task t or of two.
create function pg_temp.fill(queue text, task text) returns void language sql as $$
  select graphile_worker.add_job(task, queue_name => queue, job_key => queue || n) from generate_series(1, 6) as n;
  select graphile_worker.add_job(task, queue_name => queue, job_key => queue || 'later', run_at => now() + interval '1 hour');
  select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs where key = queue || '6'))
$$;
-- What each function tells of a queue: ready, scheduled, running and failed jobs.
create function pg_temp.told(name text) returns table (counted text, listed text, searched text, matched text, named text) language plpgsql as $$
declare
  of_state text;
begin
  counted := (select concat_ws(' ', q.ready, q.scheduled, q.running, q.failed) from graphile_worker.list_queues() as q where q.queue_name = name);
  foreach of_state in array '{ready,scheduled,running,failed}'::text[] loop
    listed := concat_ws(' ', listed, (select count(*) from graphile_worker.list_jobs(of_state, queue => name) as l
                                       where l.queue_name = name and l.state = of_state));
    searched := concat_ws(' ', searched, (select cardinality(s.job_ids) from graphile_worker.search_jobs(of_state, queue => name) as s));
    matched := concat_ws(' ', matched, (select count(*) from graphile_worker.matching_job_ids(of_state, queue => name)));
    named := concat_ws(' ', named, (select count(*) from graphile_worker.show_jobs(array(select id from graphile_worker._private_jobs)) as l
                                     where l.queue_name = name and l.state = of_state));
  end loop;
  return next;
end $$;

select pg_temp.fill(q, t) from (values ('paused', 't'), ('of a paused task', 'paused task'), ('limited', 'limited'), ('free', 't')) as v (q, t);
select add_job('limited', job_key => 'lane' || n) from generate_series(1, 3) as n;
select results_eq(format('select * from pg_temp.told(%L)', q), $$ select t, t, t, t, t from (values ('5 1 0 1')) as v (t) $$, q || ': before')
  from unnest('{paused,of a paused task,limited}'::text[]) as q;

select set_limit('tasks', tasks => '{limited}', max_running => 2);
select pause(queue => 'paused'), pause(task => 'paused task');
select count(*) from get_job_batch('worker', batch_size => 9);
select results_eq($$ select * from pg_temp.told('paused') $$, $$ select t, t, t, t, t from (values ('5 1 0 1')) as v (t) $$,
  'jobs of a paused queue are counted and found in their queue and state');
select results_eq($$ select * from pg_temp.told('of a paused task') $$, $$ select t, t, t, t, t from (values ('5 1 0 1')) as v (t) $$,
                  'jobs in a queue of a paused task are counted and found in their queue and state');
select is((select count(*) from _private_jobs where locked_at is not null and key like 'l%'), 2::bigint,
  'two of the limited jobs run');
select results_eq($$ select * from pg_temp.told('limited') $$,
                  $$ select t, t, t, t, t from (select concat_ws(' ', count(*) filter (where locked_at is null) - 2, 1, count(*) filter (where locked_at is not null), 1)
                                                  from _private_jobs where key like 'limited%') as v (t) $$,
                                                  'jobs in a queue under a limit are counted and found in their queue and state');
select results_eq($$ select t.ready + t.scheduled + t.running + t.failed, t.failed from list_tasks() as t where t.task_identifier = 'limited' $$,
                  $$ values (10::numeric::bigint, 1::bigint) $$, 'the limited task is listed with its jobs in lanes');
select pause(limit_name => 'tasks');
select count(*) from get_job_batch('worker', batch_size => 9);
select is((select matched from pg_temp.told('limited')), (select counted from pg_temp.told('limited')),
  'jobs of a paused limit are found in the same states as they are counted');
select pg_temp.suspect(id) from jobs where key in ('paused1', 'of a paused task1', 'limited5');
select results_eq(format('select distinct * from unnest(array(select unnest(array[t.counted, t.listed, t.searched, t.matched, t.named]) from pg_temp.told(%L) as t)) as u (x)', q),
                  format($$ values (%L) $$, w), q || ': with a held job')
  from (values ('paused', '5 1 0 1'), ('of a paused task', '5 1 0 1')) as v (q, w);
select is((select count(*) from (select distinct unnest(array[t.counted, t.listed, t.searched, t.matched, t.named]) from pg_temp.told('limited') as t) as u), 1::bigint,
  'a held job of a limited queue is counted and found alike by all functions');

select * from finish();
rollback;
