-- Functions, procedures and triggers that differ from those of the migrations are reported until they are restored.
begin;
select plan(8);
set local search_path = graphile_worker, public;

create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

create temp table original as select pg_get_functiondef('backoff'::regproc) as command;
create function pg_temp.told()
  returns setof text
  language sql
as $$
  select subject from doctor() where finding in ('replaced function', 'overloaded function')
$$;

set local search_path = public;
select set_eq(
  $$ select object from graphile_worker._gw_installed $$,
  $$ select case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure
       from pg_proc as p where p.pronamespace = 'graphile_worker'::regnamespace
     union all
     select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass
       from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
      where c.relnamespace = 'graphile_worker'::regnamespace and not t.tgisinternal $$,
  'each installed function, procedure and trigger is recorded');
set local search_path = graphile_worker, public;

create or replace function graphile_worker.backoff(attempts integer) returns interval language sql as 'select null::interval';
select results_eq(
  $$ select severity, finding, subject, detail ~ '^It is not what gw-migrate installed', remedy from doctor() $$,
  $$ values ('warning', 'replaced function', 'function graphile_worker.backoff(integer)', true,
             'Restore it with: gw-migrate repair') $$,
  'a function with another body is reported');
do $$ begin execute (select command from original); end $$;
select is_empty($$ select * from doctor() $$, 'a function whose body is restored is not reported');

drop function backoff;
select is((select detail ~ '^It is missing' from doctor()), true, 'a function that was dropped is reported');
do $$ begin execute (select command from original); end $$;

alter table _private_job_queues disable trigger _gw_queue_freed;
select is(pg_temp.told(), 'trigger _gw_queue_freed on graphile_worker._private_job_queues',
  'a disabled trigger is reported');
alter table _private_job_queues enable trigger _gw_queue_freed;

create function graphile_worker.mine() returns void language sql as '';
create function graphile_worker.backoff(attempts bigint) returns interval language sql as 'select null::interval';
select is(pg_temp.told(), 'function graphile_worker.backoff(bigint)',
  'an overload is reported, but not a function with another name');
select pg_temp.apply_remedies('overloaded function');
select is_empty($$ select * from doctor() $$, 'the remedy drops the overload');

create or replace function graphile_worker.backoff(attempts integer) returns interval language sql as 'select null::interval';
select _gw_record_installed();
select is_empty($$ select * from doctor() $$, 'functions that a migration records are not reported');

select * from finish();
rollback;
