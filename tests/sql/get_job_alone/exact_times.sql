-- A suspect runs alone for one heartbeat interval, and for one a worker makes room for it; for a strict one not again
-- before twelve of them are over.
begin;
select plan(10);
set local search_path = graphile_worker, public;
\ir ../clock.psql
\ir ../suspect.psql

select add_job('task', to_json(n)) from generate_series(1, 4) as n;
select pg_temp.suspect(id) from jobs where id < (select max(id) from jobs);
select is((select a.payload::text from get_job_alone('worker') as a), '1', 'a worker claims a suspect alone');
update _private_jobs set locked_at = now() - _gw_beat_every() + interval '1 microsecond' where locked_by = 'worker';
select is_empty($$ select b.payload::text from get_job_batch('worker') as b $$,
  'a worker with a suspect claims no other job just before a heartbeat interval is over');
update _private_jobs set locked_at = now() - _gw_beat_every() where locked_by = 'worker';
select results_eq($$ select b.payload::text from get_job_batch('worker') as b $$, array['4'],
  'a worker with a suspect claims other jobs after a heartbeat interval');

update _gw_suspects set room_at = now() - _gw_beat_every() + interval '1 microsecond' where worker_id is null;
select is_empty($$ select a.payload::text from get_job_alone('other', beside => true) as a $$,
  'no suspect is claimed beside other jobs just before the room was made for an interval');
select is(make_room(), null, 'room for a suspect is made by one worker at a time');
update _gw_suspects set room_at = now() - _gw_beat_every() where room_at is not null;
select results_eq($$ select a.payload::text from get_job_alone('other', beside => true) as a $$, array['2'],
  'a suspect is claimed beside other jobs when room was made for an interval');
select results_eq($$ select a.payload::text from get_job_alone('worker', beside => true) as a $$, array['3'],
                  'a worker that runs a suspect beside its jobs claims another after an interval');

select return_job('worker', id) from _private_jobs where locked_by = 'worker';
update _gw_suspects as s
   set room_at = case p.payload #>> '{}' when '1' then now() - _gw_beat_every() end, strict = p.payload #>> '{}' = '3'
  from _private_jobs as p
 where p.id = s.job_id;
select is(make_room(), _gw_beat_every(), 'room is made for suspects that were returned');
update _gw_suspects set room_at = room_at - 12 * _gw_beat_every();
select is(make_room(), null, 'room is not made again for a strict suspect before twelve intervals');
update _gw_suspects set room_at = room_at - interval '1 microsecond';
select is(make_room(), _gw_beat_every(), 'room is made again for a strict suspect after twelve intervals');

select * from finish();
rollback;
