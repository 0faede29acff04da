-- A job that fails with another payload passes the gates of that payload at its next start, so it does not run beside a job for which
-- there is no room.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select set_limit('hosts', tasks => '{call}', by => 'payload:host', max_running => 1);
select add_job('call', '{"host": "a"}', job_key => 'a');
select add_job('call', '{"host": "b"}', job_key => 'b');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 2::bigint, 'one job of each host runs');
select is(
  (select f.state from fail_job('worker', (select id from jobs where key = 'a'), 'partly done', retry_at => now(),
                                replacement_payload => '{"host": "b"}') as f), 'ready',
                                'a job that fails with the payload of the other host is ready');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 0::bigint,
  'the failed job does not start while the other host has no free slot');
select ok(complete_job('worker', (select id from jobs where key = 'b')),
  'the running job of the other host can be completed');
select is((select j.payload::text from get_job_batch('worker', batch_size => 9) as j), '{"host": "b"}',
  'the failed job starts when the other host has a free slot');

select * from finish();
rollback;
