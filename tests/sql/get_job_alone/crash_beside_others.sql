-- A crash while a suspect ran with other jobs counts against no job, and no job loses an attempt. Afterwards the
-- suspect has to be alone during its whole run, and its crashes count.
begin;
select plan(19);
set local search_path = graphile_worker, public;

\ir ../keeper.psql
select set_setting('recovered_jobs', 'run');


select set_setting('crashes_allowed', '2');
-- What the table says of a job.
create function pg_temp.told(job text) returns text language sql as $$
  select concat_ws(' ', j.attempts || '/' || j.max_attempts,
                   case when s.job_id is not null then 'suspect ' || s.crashes || case when s.strict then ' strict' else '' end end)
    from _private_jobs as j left join _gw_suspects as s on s.job_id = j.id where j.key = job
$$;

select register_worker('w0');
select add_job('task', job_key => 'poison');
select get_job('w0');
select pg_temp.kill('w0');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is(pg_temp.told('poison'), '1/25 suspect 0', 'the crash that makes a job a suspect does not count against it');

select register_worker('w1');
select add_job('task', job_key => 'last try', max_attempts => 1), add_job('task', job_key => 'replaced', max_attempts => 1);
select set_eq($$ select key from get_job_batch('w1', batch_size => 2) $$, '{last try,replaced}'::text[],
  'a worker claims two jobs');
select ok(make_room() is not null, 'a worker with other jobs cannot make room for the suspect');
update _gw_suspects set room_at = room_at - _gw_beat_every();
select is((select key from get_job_alone('w1', beside => true)), 'poison',
  'a worker that cannot make room claims the suspect beside its other jobs');
select is_empty($$ select key from get_job_alone('w1', beside => true) $$,
  'a worker claims one suspect per heartbeat interval beside its jobs');
select add_job('task', job_key => 'late');
select is((select key from get_job_batch('w1')), 'late', 'a worker that runs a suspect beside its jobs claims others');
select add_job('task', job_key => 'replaced');
select remove_job('replaced');
select pg_temp.kill('w1');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is(pg_temp.told('poison'), '1/25 suspect 0 strict',
  'a crash beside other jobs takes no attempt and does not count, but makes the suspect strict');
select is(pg_temp.told('last try'), '0/1 suspect 0', 'a crash takes no attempt from a job that ran beside the suspect');
select is(pg_temp.told('late'), '0/25 suspect 0',
  'a crash takes no attempt from a job that was claimed after the suspect');
select is_empty($$ select id from _private_jobs where key is null and is_available $$,
  'a replaced job does not run again after the crash');

update _gw_suspects set room_at = now() - interval '1 day';
select is((select key from get_job_alone('w2', '{task}', beside => true)), 'last try',
  'suspects that are not strict can be claimed alone');
select is((select key from get_job_alone('w3', beside => true)), 'late',
  'another suspect that is not strict is claimed beside, the strict one is not');
select is_empty($$ select key from get_job_alone('w4', beside => true) $$,
  'a strict suspect is not claimed beside other jobs');
select register_worker('w4'), register_worker('w5');
select is((select key from get_job_alone('w4')), 'poison',
  'a strict suspect is claimed by a worker without other jobs');
update _private_jobs set locked_at = locked_at - interval '1 hour' where locked_by = 'w4';
select add_job('task', job_key => 'another');
select is_empty($$ select key from get_job_batch('w4') $$,
  'no job is claimed beside a strict suspect, however long it runs');
select pg_temp.kill('w4');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is(pg_temp.told('poison'), '2/25 suspect 1 strict', 'a crash while the suspect was alone counts against it');
select is((select key from get_job_alone('w5')), 'poison', 'a suspect is claimed again after its first counted crash');
select pg_temp.kill('w5');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is((select is_available::text || ' ' || left(last_error, 28) from _private_jobs where key = 'poison'),
          'false Probably crashed its workers', 'the suspect has failed permanently after its second counted crash');
select is((select count(*) from _private_jobs where key <> 'poison' and not is_available and locked_at is null), 0::bigint,
  'only the suspect has failed permanently');

select * from finish();
rollback;
