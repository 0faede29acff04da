-- The example of docs/console.md for programs that act on behalf of a user.
begin;
select plan(1);
alter sequence graphile_worker.jobs_id_seq1 restart 17;
select from graphile_worker.add_job('mail');
set local gw.actor = 'ada@example.com';
set local gw.selection = 'state failed, task mail';
select id from graphile_worker.retry_jobs('{17,18}');
select results_eq($$ select a.act, a.actor, a.selection from graphile_worker.list_audit() as a $$,
                  $$ values ('retry', 'ada@example.com', 'state failed, task mail') $$,
                  'the audit shows the user and the selection of the program');
select * from finish();
rollback;
