-- A limit by a key has one lane for each key; a job without the key is not limited. All limits of a job count.
begin;
select plan(5);
set local search_path = graphile_worker, public;

create function pg_temp.running()
  returns text
  language sql
as $$
  select count(*) from (select get_job_batch('worker', batch_size => 100) from generate_series(1, 3)) as b;
  select string_agg(r.line, '; ' order by r.line)
    from (select format('%s %s', t.payload ->> 'tenant', count(*)) as line
            from show_jobs(array(select j.id from jobs as j where j.locked_by is not null)) as t
           group by t.payload ->> 'tenant') as r
$$;

select set_limit('tenants', by => 'payload:tenant', max_running => 2);
select add_job('task', json_build_object('tenant', n % 3)) from generate_series(1, 12) as n;
select add_job('task', '{}') from generate_series(1, 5);
select is(pg_temp.running(), ' 5; 0 2; 1 2; 2 2', 'two jobs of each tenant and all jobs without one run');
select set_limit('tenants', by => 'payload:tenant', max_running => 2, total_running => 7);
select count(*) from complete_job_batch('worker', array(select id from jobs where locked_by is not null));
select get_job_batch('worker', '{none}') from generate_series(1, 4);
select add_job('task', json_build_object('tenant', n)) from generate_series(5, 9) as n;

select is(pg_temp.running(), '0 2; 1 2; 2 2; 5 1', 'the jobs of all tenants together are limited');
select set_limit('few', tasks => '{task}', max_running => 1);
select count(*) from complete_job_batch('worker', array(select id from jobs where locked_by is not null));
select get_job_batch('worker') from generate_series(1, 3);
select is((select count(*) from jobs where locked_by is not null), 1::bigint, 'all limits of a job count');
select drop_limit('few'), drop_limit('tenants');
select is((select count(*) from (select get_job_batch('worker', batch_size => 100) from generate_series(1, 8)) as b), 3::bigint,
  'all jobs run without limits');
delete from _private_jobs;

select set_limit('flags', by => 'flag:tenant', max_running => 1);
select add_job('task', to_json(n), flags => array['other', 'tenant:' || n % 2]) from generate_series(1, 6) as n;
select results_eq($$ select payload::text from get_job_batch('worker', batch_size => 9) $$, array['1', '2'],
  'one job of each flag runs');

select * from finish();
rollback;
