-- The meaning of a backslash in a plain literal depends on the session.
begin;
select plan(3);
set local standard_conforming_strings = off;
set local escape_string_warning = off;

select is(
  graphile_worker.cron_next('*/20 4 * * *', '2025-01-01 04:01:00+00', 'UTC'),
  '2025-01-01 04:20:00+00'::timestamptz,
  'patterns have the same meaning with standard_conforming_strings off');
select throws_ok(
  $$ select graphile_worker.cron_next('* x * * *', now(), 'UTC') $$,
  'GWRPT',
  null,
  'an invalid pattern is refused with standard_conforming_strings off');
select lives_ok(
  $$ select graphile_worker.add_job('task', '{"a": "\\n"}', job_key => 'key');
     select graphile_worker.add_job('task', '["b"]', job_key => 'key');
     select count(*) from graphile_worker.get_job('worker');
     select graphile_worker.set_setting('max_payload', '1048576'); $$,
  'jobs are added and claimed with standard_conforming_strings off');

select * from finish();
rollback;
