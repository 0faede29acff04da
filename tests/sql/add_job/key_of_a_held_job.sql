-- A job that is held because its worker died becomes an ordinary one when it is replaced through its key.
begin;
select plan(4);
set local search_path = graphile_worker, public;

\ir ../suspect.psql
create function pg_temp.places()
  returns table (place text, is_suspect boolean)
  language sql
as $$
  select coalesce(q.queue_name, j.job_queue_id::text, 'none'), exists (select from _gw_suspects as s where s.job_id = j.id)
    from _private_jobs as j
    left join _private_job_queues as q on q.id = j.job_queue_id
   where j.key = 'key'
$$;

select pg_temp.suspect((add_job('task', job_key => 'key')).id);
select add_job('task', job_key => 'key', job_key_mode => 'unsafe_dedupe');
select _gw_drop_ended();
select results_eq('select * from pg_temp.places()', $$ values ('-2', true) $$,
  'a duplicate in mode unsafe_dedupe leaves a held job held');
select add_job('task', job_key => 'key');
select _gw_drop_ended();
select results_eq('select * from pg_temp.places()', $$ values ('none', false) $$, 'a replaced job is held no longer');

select pg_temp.suspect(id) from jobs where key = 'key';
select add_jobs(array[row('task', null, 'q', null, null, 'key', null, null)::job_spec]);
select _gw_drop_ended();
select results_eq('select * from pg_temp.places()', $$ values ('q', false) $$,
  'a job that add_jobs() replaces is held no longer');
select pg_temp.suspect(id) from jobs where key = 'key';
select add_jobs(array[row('task', null, null, null, null, 'other', null, null),
                      row('task', null, 'q', null, null, 'key', null, null)]::job_spec[]);
select _gw_drop_ended();
select results_eq('select * from pg_temp.places()', $$ values ('q', false) $$,
  'a job that add_jobs() replaces together with other jobs is held no longer');

select * from finish();
rollback;
