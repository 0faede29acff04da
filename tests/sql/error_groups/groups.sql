-- error_groups() counts the errors of failed jobs.
begin;
select plan(4);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('mail') from generate_series(1, 4);
select add_job('sync');
select permanently_fail_jobs('{1}', e'user 17 is gone\nat mail.js:3');
select permanently_fail_jobs('{2}', 'user 4711 is gone');
select permanently_fail_jobs('{3}', 'mailbox is full');
select permanently_fail_jobs('{5}', 'mailbox is full');
select results_eq(
  $$ select g.task_identifier, g.prefix, g.example, g.jobs, g.newest_id, g.is_cut from error_groups() as g $$,
  $$ values ('mail', 'user ', 'user 4711 is gone', 2::bigint, 2::bigint, false), ('sync', 'mailbox is full', 'mailbox is full', 1, 5, false),
            ('mail', 'mailbox is full', 'mailbox is full', 1, 3, false) $$, 'a group for each error but for its numbers');
select is((select count(*) from error_groups('mail')), 2::bigint, 'those of a task');
select results_eq($$ select g.newest_id, g.is_cut from error_groups(max_read => 1) as g $$, $$ values (5::bigint, true) $$,
                  'of the newest failed jobs only');
select throws_ok($$ select from error_groups(max_rows => -1) $$, 'GWILM', null, 'not fewer than none');

select * from finish();
rollback;
