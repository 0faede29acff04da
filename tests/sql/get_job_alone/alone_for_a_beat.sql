-- A worker runs a suspect alone for one heartbeat interval; then it may claim other jobs, unless the suspect has to be
-- alone. Of the suspects that have to be alone, one runs at a time.
begin;
select plan(8);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

select add_job('task', job_key => k, priority => k::integer) from unnest(array['1', '2', '3']) as k;
select pg_temp.suspect(id, key <> '1') from jobs;
select add_job('task', job_key => 'plain', priority => 9);
create function pg_temp.pass(worker text) returns void language sql as $$
  update _private_jobs set locked_at = locked_at - 2 * _gw_beat_every() where locked_by = worker
$$;

select is((select key from get_job_alone('a')), '1', 'a suspect runs');
select is_empty($$ select key from get_job_batch('a') $$, 'no other job runs with it');
select pg_temp.pass('a');
select is((select key from get_job_batch('a')), 'plain', 'until a beat is over');
select is((select is_alone from _gw_suspects where worker_id = 'a'), false, 'it is not alone then');

select add_job('task', job_key => 'more', priority => 9);
select is((select key from get_job_alone('b')), '2', 'one that has to be alone');
select pg_temp.pass('b');
select is_empty($$ select key from get_job_batch('b') $$, 'stays so');
select is_empty($$ select key from get_job_alone('c') $$, 'the next has to wait for it');
select complete_job('b', id) from _private_jobs where key = '2';
select is((select key from get_job_alone('c')), '3', 'until it has ended');

select * from finish();
rollback;
