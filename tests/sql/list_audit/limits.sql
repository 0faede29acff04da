-- Changes of limits and pauses are recorded, each call as one act.
begin;
select plan(4);
set local search_path = graphile_worker, public;
set local timezone = 'UTC';
set local datestyle = 'ISO';

create function pg_temp.acts() returns table (act text, subject text) language sql as $$
  select a.act, a.subject from graphile_worker.list_audit() as a where a.jobs = 0 and a.job_ids is null order by a.id
$$;
select set_limit('api', '{call,"two words"}', rate => 100, per => '1 minute', burst => 10);
select set_limit('exports', by => 'payload:k', max_running => 3, total_running => 9);
select override_lane('exports', 'export-7', max_running => 5);
select override_lane('exports', 'export-7', rate => 5, per => '1 hour', burst => 1);
select override_lane('exports', 'export-7');
select drop_limit('api');
select results_eq('select * from pg_temp.acts()', $$ values
  ('set limit', 'api: tasks {call,"two words"}, rate 100 per 00:01:00, burst 10'),
  ('set limit', 'exports: by payload:k, max_running 3, total_running 9'),
  ('override lane', 'exports, lane export-7: max_running 5'),
  ('override lane', 'exports, lane export-7: rate 5 per 01:00:00, burst 1'),
  ('override lane', 'exports, lane export-7: as the limit'),
  ('drop limit', 'api') $$, 'each change of a limit or a lane is recorded');

delete from _gw_audit;
select pause(task => 'mail', reason => 'the provider is down', until => '2100-01-02');
select pause(queue => 'q');
select pause(limit_name => 'exports');
select pause(limit_name => 'exports', lane => 'export-7');
select pause();
select resume(task => 'mail'), resume(queue => 'q'), resume(limit_name => 'exports'), resume(limit_name => 'exports', lane => 'export-7'), resume();
select results_eq('select * from pg_temp.acts()', $$ values
  ('pause', 'task mail until 2100-01-02 00:00:00+00: the provider is down'),
  ('pause', 'queue q'), ('pause', 'limit exports'), ('pause', 'limit exports, lane export-7'), ('pause', 'everything'),
  ('resume', 'task mail'), ('resume', 'queue q'), ('resume', 'limit exports'), ('resume', 'limit exports, lane export-7'), ('resume', 'everything') $$,
  'each pause and its end are recorded');

delete from _gw_audit;
select resume(), resume(task => 'none');
select is_empty('select * from pg_temp.acts()', 'a call that ends no pause is not recorded');
set local gw.actor = 'Ada';
select pause();
select results_eq('select act, actor from list_audit()', $$ values ('pause', 'Ada') $$,
  'a pause is recorded with the user of the program');

select * from finish();
rollback;
