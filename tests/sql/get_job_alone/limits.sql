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
select is((select array_agg(key) from get_job_batch('first')), '{2}', 'another job runs');
select is_empty($$ select id from get_job_alone('second') $$, 'the suspect waits for its place');
select complete_job('first', id) from jobs where key = '2';
select results_eq($$ select key from get_job_alone('second') $$, array['1'], 'and takes it');
select is_empty($$ select id from get_job_batch('first') $$, 'so that no other job runs');
select is(pg_temp.running(), 1, 'it is counted');
select fail_job('second', id, 'no luck', retry_in => '0') from jobs where key = '1';
select is(pg_temp.running(), 0, 'until it has failed');
select is((select job_queue_id from _private_jobs where key = '1'), -2, 'and is held again');
select is((select array_agg(key) from get_job_batch('first')), '{3}', 'another job takes the place');
select complete_job('first', id) from jobs where key = '3';

select add_job('export', job_key => 'queued', queue_name => 'q');
select pg_temp.suspect(id) from jobs where key = 'queued';
select results_eq($$ select key from get_job_alone('second') $$, array['1'], 'the first suspect runs');
select is_empty($$ select key from get_job_alone('third') $$, 'one in a free queue waits for its place, too');
select complete_job('second', id) from jobs where key = '1';
select results_eq($$ select key, queue_name from get_job_alone('third') $$, $$ values ('queued', 'q') $$, 'then it runs in its queue');
select is(pg_temp.running(), 1, 'and is counted');
select complete_job('third', id) from jobs where key = 'queued';
select is(pg_temp.running(), 0, 'until its end');

select * from finish();
rollback;
