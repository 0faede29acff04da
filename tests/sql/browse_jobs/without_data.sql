-- browse_jobs() and jobs_without_data() show jobs to roles that must not see their data.
begin;
select plan(3);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('mail', '{"secret": 1}', 'q', '2026-01-02 03:04Z', 5, 'k', 7, '{f}');
select add_job('sync', run_at => now() + interval '1 hour');
select results_eq($$ select b.job_ids, b.next_id from browse_jobs('ready', 'mail', 'q', max_rows => 1) as b $$,
                  $$ select s.job_ids, s.next_id from search_jobs('ready', 'mail', 'q', max_rows => 1) as s $$,
                  'browse_jobs() finds the jobs that search_jobs() finds');
select is((select jsonb_agg(to_jsonb(j)) from jobs_without_data('{1,2,99}') as j),
          (select jsonb_agg(to_jsonb(s) - '{payload,key,flags,last_error,progress,progress_note,progress_at,steps}'::text[]) from show_jobs('{1,2}') as s),
          'jobs_without_data() shows the columns without data');
select throws_ok($$ select from browse_jobs('waiting') $$, 'GWIST', null, 'an unknown state is refused');

select * from finish();
rollback;
