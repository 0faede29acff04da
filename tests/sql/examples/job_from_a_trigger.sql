-- A trigger adds a job for every new row, in the transaction of the insert: either both are committed or none.
begin;
select plan(4);

create table public.messages (
  id   bigint generated always as identity primary key,
  body text not null
);

create function public.message_created()
  returns trigger
  language plpgsql
as $$
begin
  perform graphile_worker.add_job('send_message', json_build_object('id', new.id));
  return new;
end;
$$;

create trigger message_created
  after insert on public.messages
  for each row
  execute function public.message_created();

insert into public.messages (body) values ('hello'), ('world');
select results_eq(
  $$ select g.task_identifier, m.body
       from graphile_worker.get_job_batch('worker', batch_size => 9) as g
       join public.messages as m on m.id = (g.payload ->> 'id')::bigint $$,
  $$ values ('send_message', 'hello'), ('send_message', 'world') $$,
  'the trigger adds a job for each new row');

update public.messages set body = upper(body);
select is_empty($$ select id from graphile_worker.get_job('worker') $$, 'an update adds no job');

savepoint before;
insert into public.messages (body) values ('never sent');
rollback to before;
select is_empty($$ select id from graphile_worker.get_job('worker') $$, 'an insert that is rolled back adds no job');

insert into public.messages (body) values ('sent');
select isnt_empty($$ select id from graphile_worker.get_job('worker') $$, 'an insert that is committed adds a job');

select * from finish();
rollback;
