-- Heartbeats delete unused lanes, and no others.
begin;
select plan(12);
set local search_path = graphile_worker, public;

create function pg_temp.beat() returns void as $body$
  update _gw_turns set last_at = '-infinity' where name = 'idle_lanes';
  select heartbeat('worker');
$body$ language sql;
create function pg_temp.keys() returns text as $body$
  select coalesce(string_agg(l.key, ' ' order by l.key), '') from _gw_lanes as l where not l.is_total;
$body$ language sql;

select register_worker('worker');
select set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 1, total_running => 5);
select set_limit('regions', tasks => '{tenant}', by => 'payload:region', rate => 9, per => '1 second');
select get_job_batch('worker') from generate_series(1, 9);
select add_job('tenant', json_build_object('tenant', n, 'region', 'north'), job_key => n, max_attempts => 1)
  from unnest(array['done', 'failed', 'runs', 'waits', 'recent', 'paid', 'closed']) as n;
select get_job_batch('worker', batch_size => 9);
select complete_job('worker', id) from jobs where key in ('done', 'recent', 'paid', 'closed');
select fail_job('worker', id, 'broken') from jobs where key = 'failed';
select add_job('tenant', '{"tenant": "waits", "region": "north"}', run_at => now() + interval '1 year');
select get_job_batch('worker', batch_size => 9);
select complete_job('worker', id) from jobs where key in ('waits', 'recent', 'paid', 'closed');
select override_lane('tenants', 'paid', max_running => 2);
select is((select count(*) from jobs where locked_at is not null), 1::bigint, 'one job runs');
select pg_temp.beat();
select is(pg_temp.keys(), 'closed done failed north paid recent runs waits', 'within the first hour all lanes stay');

update _gw_lanes set served_at = now() - interval '2 hours', theoretic_at = now() - interval '2 hours' where key <> 'recent';
update _gw_lanes set closed_until = now() + interval '1 minute' where key = 'closed';
select _gw_drop_idle_lanes();
select is(pg_temp.keys(), 'closed done failed north paid recent runs waits', 'it is not yet due again');
select pg_temp.beat();
select is(pg_temp.keys(), 'closed failed north paid recent runs waits', 'the one without jobs is deleted');
select is((select count(*) from _gw_lanes where is_total), 1::bigint, 'the lane of the total stays');
select is_empty('select from _gw_groups as g where not exists (select from _gw_lanes as l where l.id = all (g.lanes)) and not (select count(*) = cardinality(g.lanes) from _gw_lanes as l where l.id = any (g.lanes))',
                'no group lacks a lane');
select pg_temp.beat();
select is(pg_temp.keys(), 'closed failed north paid recent runs waits', 'no other is');

-- The job that had failed is retried, and new jobs of the deleted lane run.
select retry_jobs(array(select id from jobs where key = 'failed'));
select add_job('tenant', '{"tenant": "done", "region": "north"}', job_key => 'done');
select get_job_batch('worker', batch_size => 9);
select results_eq('select key from jobs where locked_at is not null order by key', $$ values ('done'), ('failed'), ('runs') $$,
                  'both run');
delete from _private_jobs;
update _gw_lanes set served_at = now() - interval '2 hours', theoretic_at = 'epoch', closed_until = 'epoch';
select set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 1);
select pg_temp.beat();
select isnt(pg_temp.keys(), 'paid', 'while limits are being changed, no lane is deleted');
select get_job_batch('worker') from generate_series(1, 9);
select pg_temp.beat() from generate_series(1, 5);
select is(pg_temp.keys(), '', 'the lanes of all limits are deleted in the end');
select is_empty('select from _gw_groups', 'and all groups');
select is_empty('select from _gw_fronts', 'and all fronts');

select * from finish();
rollback;
