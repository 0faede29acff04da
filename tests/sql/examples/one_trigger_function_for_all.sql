-- One trigger function serves every table with an id: the trigger gives the task (TG_ARGV) and the condition (WHEN).
begin;
select plan(7);

create table public.emails (
  id       bigint generated always as identity primary key,
  address  text    not null,
  verified boolean not null default false
);
create table public.documents (
  id    bigint generated always as identity primary key,
  title text not null,
  views integer not null default 0
);

create function public.add_row_job()
  returns trigger
  language plpgsql
as $$
begin
  perform graphile_worker.add_job(tg_argv[0], json_build_object(
    'schema', tg_table_schema,
    'table',  tg_table_name,
    'op',     tg_op,
    'id',     case when tg_op = 'DELETE' then old.id else new.id end));
  return null;
end;
$$;

create trigger verify_email
  after insert on public.emails
  for each row
  when (not new.verified)
  execute function public.add_row_job('verify_email');
create trigger email_changed
  after insert or update or delete on public.emails
  for each row
  execute function public.add_row_job('email_changed');
create trigger render_new_document
  after insert on public.documents
  for each row
  execute function public.add_row_job('render_document');
create trigger render_retitled_document
  after update on public.documents
  for each row
  when (new.title is distinct from old.title)
  execute function public.add_row_job('render_document');

create function pg_temp.jobs()
  returns table (task text, op text)
  language sql
as $$
  select g.task_identifier, g.payload ->> 'op' from graphile_worker.get_job_batch('worker', batch_size => 9) as g
$$;

insert into public.emails (address) values ('a@example.com');
select set_eq(
  $$ select * from pg_temp.jobs() $$,
  $$ values ('verify_email', 'INSERT'), ('email_changed', 'INSERT') $$,
  'an address that is not verified adds a job of both triggers');
insert into public.emails (address, verified) values ('b@example.com', true);
select set_eq($$ select * from pg_temp.jobs() $$, $$ values ('email_changed', 'INSERT') $$,
  'a verified address adds only the job of a change');
update public.emails set verified = true where address = 'a@example.com';
select set_eq($$ select * from pg_temp.jobs() $$, $$ values ('email_changed', 'UPDATE') $$,
  'an update adds the job of a change');

delete from public.emails where address = 'a@example.com';
select results_eq(
  $$ select g.task_identifier, g.payload::jsonb - 'id', (g.payload ->> 'id')::bigint > 0
       from graphile_worker.get_job('worker') as g $$,
  $$ values ('email_changed', '{"schema": "public", "table": "emails", "op": "DELETE"}'::jsonb, true) $$,
  'a deletion passes the deleted row');

insert into public.documents (title) values ('draft');
select set_eq($$ select * from pg_temp.jobs() $$, $$ values ('render_document', 'INSERT') $$,
  'a new document adds a job');
update public.documents set views = views + 1;
select is_empty($$ select * from pg_temp.jobs() $$, 'an update of another column adds no job');
update public.documents set title = 'final';
select set_eq($$ select * from pg_temp.jobs() $$, $$ values ('render_document', 'UPDATE') $$,
  'an update of the title adds a job');

select * from finish();
rollback;
