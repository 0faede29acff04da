-- A job that is held because its worker died becomes an ordinary one when it is replaced through its key.
begin;
select plan(4);
set local search_path = graphile_worker, public;

create function pg_temp.hold()
  returns void
  language sql
as $$
  update _private_jobs set job_queue_id = -2 where key = 'key';
  insert into _gw_suspects (job_id, revision)
  select id, revision from _private_jobs where key = 'key' on conflict (job_id) do nothing;
$$;
create function pg_temp.places()
  returns table (place text, is_suspect boolean)
  language sql
as $$
  select coalesce(q.queue_name, j.job_queue_id::text, 'none'), exists (select from _gw_suspects as s where s.job_id = j.id)
    from _private_jobs as j
    left join _private_job_queues as q on q.id = j.job_queue_id
   where j.key = 'key'
$$;

select add_job('task', job_key => 'key');
select pg_temp.hold();
select add_job('task', job_key => 'key', job_key_mode => 'unsafe_dedupe');
select results_eq('select * from pg_temp.places()', $$ values ('-2', true) $$, 'a duplicate changes nothing');
select add_job('task', job_key => 'key');
select results_eq('select * from pg_temp.places()', $$ values ('none', false) $$, 'it is held no longer');

select pg_temp.hold();
select add_jobs(array[row('task', null, 'q', null, null, 'key', null, null)::job_spec]);
select results_eq('select * from pg_temp.places()', $$ values ('q', false) $$, 'nor after add_jobs()');
select pg_temp.hold();
select add_jobs(array[row('task', null, null, null, null, 'other', null, null),
                      row('task', null, 'q', null, null, 'key', null, null)]::job_spec[]);
select results_eq('select * from pg_temp.places()', $$ values ('q', false) $$, 'with other jobs');

select * from finish();
rollback;
