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

select is(pg_temp.reasons('1'), 'next', 'the first job is next');
select is(pg_temp.reasons('plain'), 'behind', 'a job behind the first one is behind');
select is(pg_temp.reasons('later'), 'future', 'a job that is due later is in the future');
select is(pg_temp.reasons('q2'), 'behind in queue', 'a job behind another one in its queue is behind in queue');
select count(*) from get_job_batch('worker', batch_size => 9);
select is(pg_temp.reasons('1'), 'claimed', 'a job that runs is claimed');
select is(pg_temp.reasons('2'), 'full', 'a job that waits for a slot waits for a full lane');
select is((select blocking_job_ids from why((select id from jobs where key = '2'))), (select array[id] from jobs where key = '1'),
  'why() returns the id of the job that has the slot');
select is(pg_temp.reasons('q2'), 'queue held', 'a job whose queue is held waits for the queue');
select pause(limit_name => 'exports', reason => 'a migration');
select matches(pg_temp.detail('2'), '^The limit exports is paused by .* since .*\. a migration$',
  'why() says who has paused the limit, since when and why');
select pause(task => 'plain', reason => 'for now');
select is(pg_temp.reasons('later'), 'future, paused', 'a job that is due later is also paused with its task');
select matches(pg_temp.detail('later'), 'The task plain is paused by .* since .*\. for now$',
  'why() says who has paused the task, since when and why');
select pause(queue => 'queue'), pause();
select matches(pg_temp.detail('q2'), '^The task plain is .* The queue queue is paused .* Everything is paused ',
  'why() says all pauses that apply to a job');
select resume(), resume(queue => 'queue'), resume(task => 'plain');
select is(pg_temp.reasons('later'), 'future',
  'a job that is due later is not paused any more when the pauses have ended');
select set_limit('api', tasks => '{call}', by => 'payload:''s', max_running => 9);
select add_job('call', '{"''s": "o''b"}'), add_job('call', '{"''s": "o''b"}', job_key => 'closed');
select rate_limited('w', b.id, null, interval '1 hour') from get_job_batch('w', '{call}') as b;
select is((select remedy from why((select id from jobs where key = 'closed'))),
          'If the service accepts requests again, open_lane(''api'', ''o''''b'') opens it.',
          'the remedy of a closed lane opens it');
select is_empty($$ select * from why(-1) $$, 'no reason is returned for a job that does not exist');

select * from finish();
rollback;
