-- error_groups() counts the errors of failed jobs, and search_jobs() and matching_job_ids() find exactly the jobs of each group.
begin;
select plan(12);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('mail') from generate_series(1, 4);
select add_job('sync');
select permanently_fail_jobs('{1}', e'user 4710 is gone\nat mail.js:3');
select permanently_fail_jobs('{2}', 'user 4711 is gone');
select permanently_fail_jobs('{3}', 'mailbox is full');
select permanently_fail_jobs('{5}', 'mailbox is full');
update _private_jobs set updated_at = '2001-01-01' where id = 2;
select results_eq(
  $$ select g.task_identifier, g.error_group, g.example, g.jobs, g.newest_id, g.is_cut, g.first_failed_at, g.failed_at = now() from error_groups() as g $$,
  $$ values ('mail', 'user * is gone', 'user 4711 is gone', 2::bigint, 2::bigint, false, '2001-01-01'::timestamptz, true),
            ('sync', 'mailbox is full', 'mailbox is full', 1, 5, false, now(), true),
            ('mail', 'mailbox is full', 'mailbox is full', 1, 3, false, now(), true) $$,
            'errors that differ only in numbers are one group');
select is((select count(*) from error_groups('mail')), 2::bigint, 'the errors of one task are grouped');
select is((select count(*) from error_groups(max_rows => 1)), 1::bigint, 'the most frequent group comes first');
select throws_ok($$ select from error_groups(max_rows => -1) $$, 'GWILM', null, 'a negative number of rows is refused');

-- What a program may write, and the group of each.
create temp table errors (number serial, error text, error_group text);
insert into errors (error, error_group) values
  (null, '(no error)'), ('', '(no error)'), (e' \n\r\n\t', '(no error)'),
  ('404 Not Found at /x', '404 Not Found at /x'), ('HTTP 500', 'HTTP 500'), ('HTTP 503', 'HTTP 503'),
  (e'\nTraceback (most recent call last):\n  File "a.py", line 3', 'Traceback (most recent call last):'),
  ('  File "a.py", line 3', 'File *, line 3'), (e'\r\n\tFile "b.py", line 3\r\nx', 'File *, line 3'),
  (e'10 %\r20 %\r30 %', '10 %'), ('request 35051070e572 refused', 'request * refused'), ('request 0d1e2f3a4b5c refused', 'request * refused'),
  ('no 6f0e1e64-4c4f-4c1b-9d0a-0f2d3c4b5a69 here', 'no * here'), ('no order a.b+c@example.com here', 'no order * here'),
  ('can''t open ''x y'': it''s locked', 'can''t open *: it''s locked'), ('relation "a""b" of `c` lacks 12345 of 999', 'relation ** of * lacks * of 999'),
  ('*', '*'), ('100 % _ \ ü 無', '100 % _ \ ü 無'), (repeat('long ', 1000), repeat('long ', 40)), (repeat(' ', 2000) || 'late', '(no error)'),
  ('"quoted" at once', '* at once'), ('"' || repeat('x', 900) || '" at once', '* at once'), ('(no error)', '(no error)');
select is_empty($$ select e.error, e.error_group, _gw_error_group(e.error) from errors as e where _gw_error_group(e.error) <> e.error_group $$,
                'errors that differ in what names one case are one group');
select add_job('odd', job_key => e.number || ' ' || n) from errors as e, generate_series(1, 3) as n;
update _private_jobs as j set attempts = max_attempts, last_error = e.error from errors as e where split_part(j.key, ' ', 1) = e.number::text;
select add_job('odd'), add_job('other', job_key => '1');
update _private_jobs set attempts = max_attempts where key = '1';
select set_eq($$ select g.error_group, g.jobs from error_groups('odd', 100) as g $$,
              $$ select e.error_group, 3 * count(*) from errors as e group by e.error_group $$,
              'each group counts all of its jobs');
select is_empty(
  $$ select g.*, m.keys
       from error_groups('odd', 100) as g
      cross join lateral (
             select array_agg(split_part(j.key, ' ', 1)::int order by j.id) as keys, array_agg(j.id order by j.id desc) as ids
               from matching_job_ids('failed', 'odd', error_group => g.error_group) as m (id) join _private_jobs as j on j.id = m.id) as m
      cross join lateral search_jobs('failed', 'odd', error_group => g.error_group, max_rows => 100) as s
      where m.ids <> s.job_ids or cardinality(m.ids) <> g.jobs
         or exists (select from errors as e where (e.number = any (m.keys)) <> (e.error_group = g.error_group)) $$,
  'the searches find exactly the jobs of each group');
select is((select cardinality(s.job_ids) from search_jobs(error_group => '(no error)', max_rows => 100) as s), 3 * 5 + 3,
  'a group is searched in all tasks and states');
select is_empty($$ select matching_job_ids('failed', 'odd', error_group => '') $$, 'no group has an empty name');

-- Of more jobs than max_read it reads the newest ones, and some of the others.
select complete_jobs(array(select id from jobs));
alter sequence jobs_id_seq1 restart 1000000;
insert into _private_jobs (id, task_id, max_attempts, attempts, last_error) overriding system value
select n, (select id from _private_tasks where identifier = case when n between 2000 and 17999 then 'mail' else 'sync' end), 1, 1, 'HTTP ' || 500 + n % 3
  from generate_series(1, 20000) as n;
select results_eq(
  $$ select g.task_identifier, g.error_group, g.jobs between 4800 and 5850 or g.jobs between 1150 and 1500, g.is_cut from error_groups(max_read => 5000) as g order by 1, 2 $$,
  $$ values ('mail', 'HTTP 500', true, true), ('mail', 'HTTP 501', true, true), ('mail', 'HTTP 502', true, true),
            ('sync', 'HTTP 500', true, true), ('sync', 'HTTP 501', true, true), ('sync', 'HTTP 502', true, true) $$,
  'an old group is found behind newer jobs, and each job that is read stands for several');
select ok((select sum(jobs) between 19000 and 21000 from error_groups(max_read => 5000)),
  'the sum of the estimates is near the number of jobs');
select is((select sum(jobs) from error_groups(max_read => 20000)), 20000::numeric,
  'as many jobs as may be read are counted exactly');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
