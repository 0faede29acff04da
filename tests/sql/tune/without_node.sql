-- A queue without Node workers has a unique index of the keys that are not null, and no index that only Node workers read.
-- Keys are as unique as before, and the way back restores Graphile Worker's indexes.
begin;
select plan(12);
set local search_path = graphile_worker, public;

create function pg_temp.indexes()
  returns table (index text, definition text)
  language sql
as $$
  select r.relname::text, format('%s %s', case when i.indisunique then 'unique' end, regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING ', ''))
    from pg_index as i
    join pg_class as r on r.oid = i.indexrelid
   where i.indrelid = 'graphile_worker._private_jobs'::regclass
$$;

create temp table before as select * from pg_temp.indexes();
create temp table constraints_before as
select conname, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = '_private_jobs'::regclass;
select add_job('task', '{"n": 1}', job_key => 'a'), add_job('task', '{"n": 2}'), add_job('task', '{"n": 3}');

select ok(_gw_tune(false), 'it changes the indexes');
select set_eq(
  $$ (select * from before except select * from pg_temp.indexes()) union all (select * from pg_temp.indexes() except select * from before) $$,
  $$ values ('jobs_key_key1', case when current_setting('server_version_num')::integer < 130000 then 'unique btree (key)'
                                   else 'unique btree (key) WITH (deduplicate_items=off)' end),
            ('jobs_main_index', ' btree (priority, run_at) INCLUDE (id, task_id, job_queue_id) WHERE (is_available = true)'),
            ('_gw_jobs_key', 'unique btree (key) WHERE (key IS NOT NULL)') $$,
  'two are dropped, and one takes the place of the first');
select ok(not _gw_tune(false), 'a second call changes nothing');

select results_eq(
  $$ select (add_job('task', '{"n": 4}', job_key => 'a')).revision, (add_job('task', '{"n": 5}', job_key => 'b')).revision $$,
  $$ values (1, 0) $$,
  'a job with a key is replaced, and another key is added');
select results_eq(
  $$ select a.key, a.revision
       from add_jobs(array[row('task', '{}', null, null, null, 'a', null, null),
                           row('task', '{}', null, null, null, 'c', null, null),
                           row('task', '{}', null, null, null, null, null, null)]::job_spec[]) as a $$,
  $$ values ('a', 2), ('c', 0), (null, 0) $$,
  'also in bulk');
select throws_ok($$ insert into _private_jobs (task_id, key) select 1, 'a' $$, '23505', null, 'two jobs cannot have the same key');
select throws_ok($$ insert into _private_jobs (task_id, key) select 1, 'd' on conflict (key) do nothing $$, '42P10', null,
                 'a statement that asks for an index of all keys, as Graphile Worker''s add_job does, fails');

select ok(_gw_tune(true), 'the way back changes the indexes');
select set_eq('select * from pg_temp.indexes()', 'select * from before', 'they are those of an install');
select set_eq(
  $$ select conname, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = '_private_jobs'::regclass $$,
  'select * from constraints_before', 'and so are the constraints');
select ok(not _gw_tune(true), 'a second call changes nothing');
select is((add_job('task', job_key => 'a')).revision, 3, 'the job with the key is still there');

select * from finish();
rollback;
