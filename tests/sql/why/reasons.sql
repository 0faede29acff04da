-- why() gives every reason, what it depends on and when it may change.
begin;
select plan(15);
set local search_path = graphile_worker, public;

create function pg_temp.reasons(job_key text)
  returns text
  language sql
as $$ select string_agg(w.reason, ', ') from why((select id from jobs where key = job_key)) as w $$;
create function pg_temp.detail(job_key text)
  returns text
  language sql
as $$ select string_agg(w.detail, ' ') from why((select id from jobs where key = job_key)) as w $$;

select set_limit('exports', tasks => '{export}', max_running => 1);
select add_job('export', job_key => n::text) from generate_series(1, 2) as n;
select add_job('plain', job_key => 'plain'), add_job('plain', job_key => 'later', run_at => now() + interval '1 hour');
select add_job('plain', queue_name => 'queue', job_key => 'q' || n) from generate_series(1, 2) as n;

select is(pg_temp.reasons('1'), 'next', 'the first job');
select is(pg_temp.reasons('plain'), 'behind', 'one behind it');
select is(pg_temp.reasons('later'), 'future', 'one that is due later');
select is(pg_temp.reasons('q2'), 'behind in queue', 'one behind another one in its queue');
select count(*) from get_job_batch('worker', batch_size => 9);
select is(pg_temp.reasons('1'), 'claimed', 'one that runs');
select is(pg_temp.reasons('2'), 'full', 'one that waits for a slot');
select is((select blocking_job_ids from why((select id from jobs where key = '2'))), (select array[id] from jobs where key = '1'), 'which this job has');
select is(pg_temp.reasons('q2'), 'queue held', 'one whose queue is held');
select pause(limit_name => 'exports', reason => 'a migration');
select matches(pg_temp.detail('2'), '^The limit exports is paused by .* since .*\. a migration$', 'the reason of a pause');
select pause(task => 'plain', reason => 'for now');
select is(pg_temp.reasons('later'), 'future, paused', 'a paused task, at once');
select matches(pg_temp.detail('later'), 'The task plain is paused by .* since .*\. for now$', 'who has paused it, and why');
select pause(queue => 'queue'), pause();
select matches(pg_temp.detail('q2'), '^The task plain is .* The queue queue is paused .* Everything is paused ', 'all pauses of a job');
select resume(), resume(queue => 'queue'), resume(task => 'plain');
select is(pg_temp.reasons('later'), 'future', 'until they end');
select set_limit('api', tasks => '{call}', by => 'payload:''s', max_running => 9);
select add_job('call', '{"''s": "o''b"}'), add_job('call', '{"''s": "o''b"}', job_key => 'closed');
select rate_limited('w', b.id, null, interval '1 hour') from get_job_batch('w', '{call}') as b;
select is((select remedy from why((select id from jobs where key = 'closed'))),
          'If the service accepts requests again, open_lane(''api'', ''o''''b'') opens it.', 'how to open a lane');
select is_empty($$ select * from why(-1) $$, 'no job, no reason');

select * from finish();
rollback;
