-- search_jobs() reads no more than max_read jobs in a call, and the calls after it find the rest.
begin;
select plan(6);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job(case n when 2 then 'rare' else 'mail' end, run_at => now() - interval '1 minute') from generate_series(1, 40) as n;
select results_eq($$ select s.job_ids, s.next_id from search_jobs(task => 'rare', max_read => 10) as s $$,
                  $$ values ('{}'::bigint[], 31::bigint) $$,
                  'a search ends after max_read jobs without a result, and returns where it continues');
select results_eq(
  $$ with recursive step as (
       select s.job_ids, s.next_id from search_jobs(task => 'rare', max_read => 10) as s
       union all
       select n.job_ids, n.next_id from step as s, search_jobs(task => 'rare', below_id => s.next_id, max_read => 10) as n
        where s.next_id is not null)
     select s.job_ids from step as s where s.job_ids <> '{}' $$,
  $$ values ('{2}'::bigint[]) $$, 'the calls that continue the search find the job');
select throws_ok($$ select from search_jobs(max_read => -1) $$, 'GWILM', null, 'a negative max_read is refused');
select throws_ok($$ select from search_jobs(max_rows => -1) $$, 'GWILM', null, 'a negative max_rows is refused');

-- By their index, failed jobs are found however many others there are.
select permanently_fail_jobs('{1}');
select results_eq($$ select s.job_ids, s.next_id from search_jobs('failed', max_read => 10) as s $$,
                  $$ values ('{1}'::bigint[], null::bigint) $$, 'a failed job is found whatever else there is');

-- The ready jobs of a small queue are, too.
select add_job('queued', queue_name => 'q', run_at => now() - interval '1 minute');
select add_job('mail') from generate_series(1, 40);
select results_eq($$ select s.job_ids, s.next_id from search_jobs('ready', queue => 'q', max_read => 10) as s $$,
                  $$ values ('{41}'::bigint[], null::bigint) $$, 'the ready jobs of a queue are found whatever else there is');

select * from finish();
rollback;
