-- Arguments that the database would refuse are refused with a SQLSTATE of their own, and nothing is added.
begin;
select plan(20);
set local search_path = graphile_worker, public;

select throws_ok($$ select add_job(null) $$, 'GWBNI', 'Task identifier must not be null.');
select throws_ok($$ select add_job(repeat('t', 129)) $$, 'GWBID', 'Task identifier is too long (max length: 128).');
select throws_ok($$ select add_job('task', queue_name => repeat('q', 129)) $$,
                 'GWBQN', 'Job queue name is too long (max length: 128).');
select throws_ok($$ select add_job('task', job_key => repeat('k', 513)) $$, 'GWBJK', 'Job key is too long (max length: 512).');
select throws_ok($$ select add_job('task', job_key => '') $$,
                 'GWBJK', 'Job key must not be empty; pass null for a job without one.');
select throws_ok($$ select add_job('task', max_attempts => 0) $$, 'GWBMA', 'Job maximum attempts must be at least 1.');
select throws_ok($$ select add_job('task', max_attempts => 32768) $$,
                 'GWBMR', 'Job maximum attempts must be at most 32767, not 32768.');
select throws_ok($$ select add_job('task', priority => 32768) $$,
                 'GWBPR', 'Job priority must be between -32768 and 32767, not 32768.');
select throws_ok($$ select add_job('task', priority => -32769) $$,
                 'GWBPR', 'Job priority must be between -32768 and 32767, not -32769.');
select throws_ok($$ select add_job('task', flags => array['a', null]) $$, 'GWBNF', 'Job flags must not contain null.');
select throws_ok($$ select add_job('task', flags => array[repeat('f', 65535)]) $$,
                 'GWBFL', 'Job flags have 65537 bytes, at most 65536 are allowed.');
select throws_ok(
  $$ select add_job('task', job_key => 'key', job_key_mode => 'sometimes') $$,
  'GWBKM', 'Invalid job_key_mode value, expected ''replace'', ''preserve_run_at'' or ''unsafe_dedupe''.');
select throws_ok($$ select add_job('task', job_key => '', job_key_mode => 'unsafe_dedupe') $$,
                 'GWBJK', null, 'unsafe_dedupe refuses an empty key, too');
select is_empty($$ select id from _private_jobs $$, 'refused calls have added no job');
select is_empty($$ select id from _private_tasks union all select id from _private_job_queues $$,
  'refused calls have added no names of tasks and queues');

-- The greatest and the least that are allowed; characters, not bytes, are counted.
select lives_ok(
  $$ select add_job(repeat(chr(228), 128), queue_name => repeat(chr(228), 128), job_key => repeat(chr(228), 512),
                    max_attempts => 32767, priority => 32767) $$,
  'values of the maximum length are accepted');
select lives_ok($$ select add_job('task', max_attempts => 1, priority => -32768) $$,
  'the least max_attempts and priority are accepted');
select lives_ok($$ select add_job('task', flags => array[repeat('f', 65534)]) $$,
  'flags with as many bytes as allowed are accepted');
select lives_ok($$ select add_job('task', job_key_mode => 'sometimes') $$,
  'an invalid job_key_mode is accepted without a key');

-- Raw writes meet the CHECK constraints below.
select throws_ok(
  $$ insert into _private_jobs (task_id, key) select id, '' from _private_tasks limit 1 $$,
  '23514', null,
  'a raw insert of an empty key is refused, too');

select * from finish();
rollback;
