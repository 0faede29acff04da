-- A claim may hold several jobs for each free slot of a lane. It uses half of the free slots then, and as few slots as jobs are left.
begin;
select plan(21);
set local search_path = graphile_worker, public;

-- How many jobs of each streak a claim has, and how many of them run at once.
create function pg_temp.claimed(worker text, jobs integer, of_slot integer) returns text as $body$
  select coalesce(string_agg(format('%s of %s', c.width, c.jobs), ', ' order by c.jobs desc, c.width), '')
    from (select coalesce(b.width::text, 'all') as width, count(*) as jobs
            from get_job_batch(worker, batch_size => jobs, queue_batch => of_slot, now => clock_timestamp()) as b
           group by b.streak, b.width) as c
$body$ language sql;
create function pg_temp.complete(worker text, jobs integer) returns bigint as $body$
  select count(*) from complete_job_batch(worker, array(select j.id from jobs as j where j.locked_by = worker order by j.id limit jobs))
$body$ language sql;
create function pg_temp.running(name text) returns bigint as $body$
  select l.running from list_lanes(name) as l where l.lane is null
$body$ language sql;

select set_limit('calls', tasks => '{call}', max_running => 4);
select set_limit('rated', tasks => '{rated}', rate => 100, per => '1 minute', max_running => 2);
select set_limit('licences', tasks => '{render}', max_running => 2, strict => '1 minute');
select set_limit('tenants', tasks => '{mail}', by => 'payload:t', max_running => 2, total_running => 3);
select get_job_batch('worker') from generate_series(1, 9);

select add_job('call', to_json(n)) from generate_series(1, 3) as n;
select is(pg_temp.claimed('a', 20, 5), 'all of 3', 'no more jobs than slots: all may run');
select pg_temp.complete('a', 3);

select add_job('call', to_json(n)) from generate_series(1, 100) as n;
select is(pg_temp.claimed('a', 20, 1), 'all of 4', 'one job of a slot, unless a worker asks for more');
select pg_temp.complete('a', 4);
select is(pg_temp.claimed('a', 20, 3), '2 of 12', 'three for each slot, and two run at once');
select is(pg_temp.running('calls'), 2::bigint, 'which are the slots in use');
select is(pg_temp.claimed('b', 20, 3), '1 of 6', 'two slots are free');
select is(pg_temp.claimed('c', 2, 3), '1 of 2', 'the batch ends them');
select is(pg_temp.claimed('d', 20, 3), '', 'then the lane is full');
select is(pg_temp.running('calls'), 4::bigint, 'as list_lanes says');
select results_eq($$ select reason, cardinality(blocking_job_ids) from why((select max(id) from jobs where locked_by = 'a')) $$,
  $$ values ('full', 10) $$, 'why() names the jobs that come first');
select is((select reason from why((select min(id) from jobs where locked_by = 'a'))), 'claimed', 'the first ones run');

select pg_temp.complete('a', 10);
select is(pg_temp.claimed('d', 20, 3), '', 'two jobs of two slots are left');
select pg_temp.complete('a', 1);
select is(pg_temp.running('calls'), 3::bigint, 'then one');
select is(pg_temp.claimed('d', 20, 1), 'all of 1', 'and a slot is free');

-- A dead worker has started no more jobs than slots.
select force_unlock_workers('{b}');
select is((select array_agg(j.attempts order by j.id)::integer[] from jobs as j where j.id in (select o.id from jobs as o where o.locked_at is null order by o.id limit 6)),
  '{1,0,0,0,0,0}', 'the attempts of jobs that have not started do not count');
select is((select count(*) from _gw_streaks where locked_by = 'b'), 1::bigint, 'nobody has to delete the streak');
select _gw_mend_lanes();
select is((select count(*) from _gw_streaks where locked_by = 'b'), 0::bigint, 'a heartbeat does');
update _private_jobs set locked_by = 'e' where locked_by = 'a';
select is(pg_temp.running('calls'), 3::bigint, 'a job whose owner was changed by hand uses a slot of its own');

select add_job('rated', to_json(n)) from generate_series(1, 10) as n;
select is((select count(*) from get_job_batch('r', '{rated}', 20, queue_batch => 3)), 2::bigint, 'a claimed job has started for a rate');
select add_job('render', to_json(n)) from generate_series(1, 10) as n;
select is((select count(*) from get_job_batch('s', '{render}', 20, queue_batch => 3)), 2::bigint, 'strict limits keep the slots of all jobs');

-- Lanes that share a total.
select add_job('mail', json_build_object('t', n % 2)) from generate_series(1, 40) as n;
select is((select array_agg(c.jobs || ' in ' || c.width order by c.jobs)
             from (select count(*) as jobs, width from get_job_batch('t', '{mail}', 20, queue_batch => 4) as b group by b.streak, b.width) as c),
  '{"4 in 1","8 in 1"}'::text[], 'four jobs for each of the three slots');
select is((select array_agg(l.running order by l.lane nulls first) from list_lanes('tenants') as l), '{2,1,1}'::bigint[], 'half of them is used');

select * from finish();
rollback;
