-- A suspect counts at the gates of its limits, and waits for them; it needs the queue, too, if it has one.
begin;
select plan(13);
set local search_path = graphile_worker, public;

\ir ../suspect.psql
create function pg_temp.running() returns integer language sql as $$
  select sum(g.running)::integer - coalesce((select sum(e.jobs)::integer from _gw_gate_ends as e), 0) from _gw_gates as g
$$;

select set_limit('exports', tasks => '{export}', max_running => 1);
select add_job('export', job_key => n::text) from generate_series(1, 3) as n;
select pg_temp.suspect(id) from jobs where key = '1';
select is((select array_agg(key) from get_job_batch('first')), '{2}',
  'a job of the limit runs while the suspect waits');
select is_empty($$ select id from get_job_alone('second') $$, 'a suspect waits while its limit is full');
select complete_job('first', id) from jobs where key = '2';
select results_eq($$ select key from get_job_alone('second') $$, array['1'],
  'a suspect starts when its limit has a free slot');
select is_empty($$ select id from get_job_batch('first') $$,
  'no other job starts while the suspect uses the slot of the limit');
select is(pg_temp.running(), 1, 'a running suspect is counted by its limit');
select fail_job('second', id, 'no luck', retry_in => '0') from jobs where key = '1';
select is(pg_temp.running(), 0, 'a failed suspect is not counted by its limit any more');
select is((select job_queue_id from _private_jobs where key = '1'), -2, 'a failed suspect is held again');
select is((select array_agg(key) from get_job_batch('first')), '{3}',
  'another job takes the slot of the failed suspect');
select complete_job('first', id) from jobs where key = '3';

select add_job('export', job_key => 'queued', queue_name => 'q');
select pg_temp.suspect(id) from jobs where key = 'queued';
select results_eq($$ select key from get_job_alone('second') $$, array['1'], 'the first suspect starts again');
select is_empty($$ select key from get_job_alone('third') $$, 'a suspect in a free queue waits for its limit');
select complete_job('second', id) from jobs where key = '1';
select results_eq($$ select key, queue_name from get_job_alone('third') $$, $$ values ('queued', 'q') $$,
  'a suspect of the limit runs in its queue when there is a slot');
select is(pg_temp.running(), 1, 'a running suspect in a queue is counted by its limit');
select complete_job('third', id) from jobs where key = 'queued';
select is(pg_temp.running(), 0, 'a completed suspect in a queue is not counted any more');

select * from finish();
rollback;
