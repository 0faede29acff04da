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

select is((select key from get_job_alone('a')), '1', 'a worker claims a suspect');
select is_empty($$ select key from get_job_batch('a') $$, 'no other job runs with the suspect in its first beat');
select pg_temp.pass('a');
select is((select key from get_job_batch('a')), 'plain',
  'the worker claims another job when the suspect has run for a beat');
select is((select is_alone from _gw_suspects where worker_id = 'a'), false,
  'the suspect is not marked as alone when another job runs with it');

select add_job('task', job_key => 'more', priority => 9);
select is((select key from get_job_alone('b')), '2', 'a worker claims a suspect that has to be alone');
select pg_temp.pass('b');
select is_empty($$ select key from get_job_batch('b') $$, 'a suspect that has to be alone stays alone after a beat');
select is_empty($$ select key from get_job_alone('c') $$, 'a second suspect that has to be alone waits for the first');
select complete_job('b', id) from _private_jobs where key = '2';
select is((select key from get_job_alone('c')), '3', 'the second suspect starts when the first has ended');

select * from finish();
rollback;
