-- A claim takes jobs of many lanes in turn, and still takes most from one lane if that is far behind.
begin;
select plan(4);
set local search_path = graphile_worker, public;

create function pg_temp.claimed(jobs integer) returns bigint[] as $body$
  select array(select count(*) from get_job_batch('worker', batch_size => jobs, now => clock_timestamp()) as b
                group by b.payload ->> 't' order by b.payload ->> 't')
$body$ language sql;

select set_limit('mail', tasks => '{mail}', by => 'payload:t', fair => true);
select get_job_batch('worker') from generate_series(1, 9);
select add_job('mail', json_build_object('t', t), run_at => timestamptz '2020-01-01' + n * interval '1 s')
   from generate_series(11, 30) as t, generate_series(1, 30) as n;

select is(pg_temp.claimed(20), array_fill(1::bigint, '{20}'), 'a claim takes one job of each lane');

-- In one lane nothing runs, in all others three jobs.
select is(pg_temp.claimed(40), array_fill(2::bigint, '{20}'), 'a claim of twice as many jobs takes two of each lane');
delete from _private_jobs where locked_by is not null and payload ->> 't' = '20';
select _gw_sweep_limits();
select is((select (c)[1:2] || cardinality(c)::bigint from (select array(select count(*) from get_job_batch('worker', batch_size => 3, now => clock_timestamp()) as b group by b.payload ->> 't') as c) as c),
          '{3,1}'::bigint[], 'a claim takes most jobs from the lane that is behind');
delete from _private_jobs where payload ->> 't' not in ('20', '21');
select _gw_sweep_limits();
update _gw_gates set served_at = clock_timestamp() where key = '21';
select _gw_set_turns(array(select id from _gw_gates));

-- The other lane has one job, so all others of the batch are of this one, more than were locked at first.
delete from _private_jobs where payload ->> 't' = '21' and id <> (select min(id) from _private_jobs where payload ->> 't' = '21' and locked_by is null);
select _gw_sweep_limits();
select is(pg_temp.claimed(20), '{19,1}'::bigint[], 'a claim takes most jobs of one lane if the others have few');

select * from finish();
rollback;
