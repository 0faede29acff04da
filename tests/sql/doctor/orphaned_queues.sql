-- A queue that is locked although none of its jobs is locked stays locked; the remedy frees it, unless one of its jobs
-- was claimed in the meantime.
begin;
select plan(5);
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

select add_job('task', queue_name => q, job_key => q || n) from unnest(array['busy', 'stuck']) as q, generate_series(1, 2) as n;
select get_job_batch('worker', batch_size => 4);
select is_empty($$ select * from doctor() $$, 'a queue whose job runs is not reported');

delete from _private_jobs where key = 'stuck1';
select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('warning', 'orphaned queue', 'queue stuck',
             'It has been locked by worker worker for 00:00:00, but none of its jobs runs. Its jobs wait until a '
             'worker looks for stale locks (setting stale_sweep_every).') $$,
  'a queue whose running job was deleted is reported');

create temp table remedy as select split_part(remedy, ' with: ', 2) as command from doctor();
update _private_job_queues set locked_at = locked_at + interval '1 microsecond' where queue_name = 'stuck';
do $$ begin execute (select command from remedy); end $$;
select isnt_empty($$ select * from doctor() $$, 'the remedy does not free a queue that was claimed since');

select pg_temp.apply_remedies('orphaned queue');
select is_empty($$ select * from doctor() $$, 'the remedy frees the queue, which ends the finding');
select is((select key from get_job('worker')), 'stuck2', 'the next job of the freed queue is claimed');

select * from finish();
rollback;
