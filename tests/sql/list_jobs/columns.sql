-- list_jobs() returns the columns of show_jobs(), except the payload, the progress and the steps.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('mail', '{"to": "you"}', 'q', '2026-01-02 03:04Z', 5, 'k', 7, '{f}');
select add_job('mail', '[1]', run_at => now() + interval '1 hour');
update _private_jobs set last_error = 'oh', attempts = 2, revision = 3 where key = 'k';
select results_eq(
  $$ select state, task_identifier, queue_name, key, priority, run_at, attempts, max_attempts, last_error, created_at,
            updated_at, locked_at, locked_by, revision, flags
       from list_jobs(queue => 'q') $$,
  $$ values ('ready', 'mail', 'q', 'k', 7::smallint, '2026-01-02 03:04Z'::timestamptz, 2::smallint, 5::smallint, 'oh',
             now(), now(), null::timestamptz, null::text, 3, '{"f": true}'::jsonb) $$,
  'list_jobs() returns the columns of a job');
select is((select jsonb_agg(to_jsonb(l)) from list_jobs() as l),
          (select jsonb_agg(to_jsonb(s) - '{payload,progress,progress_note,progress_at,steps}'::text[]) from show_jobs(array(select id from jobs)) as s),
          'list_jobs() returns all jobs as show_jobs() has them');
select results_eq($$ select payload::text from show_jobs(array(select id from jobs) || 0::bigint) $$,
                  $$ values ('{"to": "you"}'), ('[1]') $$,
                  'show_jobs() returns the payloads, and omits ids without a job');
select is((select count(*)::int from list_jobs(max_rows => 1)), 1, 'list_jobs() returns no more than max_rows jobs');
select is((select id from list_jobs(after_id => (select min(id) from jobs))), (select max(id) from jobs),
  'list_jobs() returns the jobs after an id');
select throws_ok($$ select from list_jobs('waiting') $$, 'GWIST', null, 'list_jobs() refuses an unknown state');

select * from finish();
rollback;
