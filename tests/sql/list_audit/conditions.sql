-- list_audit() returns the acts of a person, of a kind, on a job or in a time.
begin;
select plan(9);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

create function pg_temp.acts(variadic conditions text[]) returns text language plpgsql as $$
declare found text;
begin
  execute 'select string_agg(a.act || '' '' || coalesce(a.job_ids::text, ''''), '', '') from graphile_worker.list_audit(' || array_to_string(conditions, ', ') || ') as a' into found;
  return found;
end $$;

select add_job('mail') from generate_series(1, 4);
set local gw.actor = 'ada''s';
select count(*) from permanently_fail_jobs('{1,2}');
set local gw.actor = '';
select count(*) from retry_jobs('{1}');
select count(*) from complete_jobs('{1,3}');
update _gw_audit set at = '2001-01-01' where act = 'fail';
update _gw_audit set role = 'somebody' where act = 'complete';
select is(pg_temp.acts(''), 'complete {1,3}, retry {1}, fail {1,2}', 'all acts are returned, the latest first');
select is(pg_temp.acts($$person => 'ada''s'$$), 'fail {1,2}', 'the acts of an actor are returned');
select is(pg_temp.acts($$person => 'somebody'$$), 'complete {1,3}', 'the acts of a role are returned');
select is(pg_temp.acts($$only_act => 'retry'$$), 'retry {1}', 'the acts of a kind are returned');
select is(pg_temp.acts('job_id => 1'), 'complete {1,3}, retry {1}, fail {1,2}',
  'the acts on a job that no longer exists are returned');
select is(pg_temp.acts('job_id => 3'), 'complete {1,3}', 'the acts on another job are returned');
select is(pg_temp.acts($$since => '2001-01-02'$$), 'complete {1,3}, retry {1}', 'the acts since a time are returned');
select is(pg_temp.acts($$until => '2001-01-02'$$), 'fail {1,2}', 'the acts until a time are returned');
select is(pg_temp.acts('job_id => 1', 'max_rows => 1', $$until => now()$$), 'fail {1,2}',
  'only acts that satisfy all conditions are returned');

select * from finish();
rollback;
