-- Lanes that stay closed or full and old pauses without an end are reported while jobs wait; the remedies help.
begin;
select plan(13);
set local search_path = graphile_worker, public;

create function pg_temp.found() returns text as $body$
  select coalesce(string_agg(d.finding || ': ' || d.subject, '; ' order by d.finding, d.subject), '')
    from _gw_find_held_limits() as d;
$body$ language sql;
create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

select is(pg_temp.found(), '', 'nothing is reported without limits');
select set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 2);
select is(pg_temp.found(), '', 'a new limit is not reported');
select add_job('tenant', '{"tenant": 7}');
select get_job('worker');
select rate_limited('worker', id, null, interval '2 hours') from jobs;
select is(pg_temp.found(), 'closed lane: limit tenants, lane 7',
  'a lane that is closed for more than an hour is reported');
select is((select w.reason from jobs as j, why(j.id) as w), 'closed', 'a job waits because its lane is closed');
select pg_temp.apply_remedies('closed lane');
select is(pg_temp.found(), '', 'the remedy of a closed lane opens it');
select is((select id from get_job('worker')), (select id from jobs), 'the job of the opened lane runs');

select add_job('other'), add_job('tenant', '{"tenant": 8}');
select pause(task => 'other', reason => 'provider is down'), pause(limit_name => 'tenants', lane => '8'), pause(limit_name => 'tenants', lane => '9');
select is(pg_temp.found(), '', 'pauses of today are not reported');
update _gw_pauses set paused_at = now() - interval '25 hours';
select is(pg_temp.found(), 'pause without end: limit tenants, lane 8; pause without end: task other',
  'pauses of yesterday without an end are reported if jobs wait');
select pg_temp.apply_remedies('pause without end');
select is((select count(*) from list_pauses()), 1::bigint,
  'the remedy ends the pauses that were reported, and keeps the other one');
select pause();
update _gw_pauses set paused_at = now() - interval '25 hours';
select is(pg_temp.found(), 'pause without end: all jobs', 'an old pause of all jobs is reported');

select resume();

select set_limit('narrow', tasks => '{narrow}', max_running => 1);
select add_job('narrow'), add_job('narrow');
select get_job('worker', '{narrow}'), get_job('worker', '{narrow}');
select is(pg_temp.found(), '', 'a full lane is not reported');
update _private_jobs set locked_at = now() - interval '3 hours 1 minute' where locked_at is not null;
select is(pg_temp.found(), 'full lane: limit narrow',
  'a full lane that has started no job for hours is reported if jobs wait');
select complete_job('worker', id) from jobs where locked_by is not null;
select is(pg_temp.found(), '', 'a lane is not reported as full when its slot is free');

select * from finish();
rollback;
