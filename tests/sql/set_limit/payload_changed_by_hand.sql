-- A job whose payload was changed by hand, or that was rescheduled, starts in its new place.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create function pg_temp.claimed(most integer default 100) returns text[] as $body$
  select array_agg(payload ->> 'n' order by payload ->> 'n') from get_job_batch('worker', batch_size => most, now => clock_timestamp())
$body$ language sql;

select register_worker('worker');
select set_limit('calls', tasks => '{a}', by => 'payload:c', max_running => 9, rate => 1, per => '100 days');
select add_job('a', json_build_object('c', 'x', 'n', n)) from generate_series(1, 3) as n;
select is(pg_temp.claimed(), '{1}', 'one job starts with the rate of its lane');
update _private_jobs set payload = '{"c":"y","n":"3"}' where payload ->> 'n' = '3';
select heartbeat('worker') from generate_series(1, 2);
select is(pg_temp.claimed(), '{3}',
  'a waiting job whose payload was changed by hand starts in its new lane after heartbeats');

select set_limit('one', tasks => '{b}', by => 'payload:c', max_running => 1, total_running => 1);
select add_job('b', json_build_object('c', n, 'n', n), run_at => now() - interval '1 hour' + n * interval '1 minute') from generate_series(1, 2) as n;
select pg_temp.claimed();
select reschedule_jobs(array(select id from _private_jobs where payload ->> 'n' = '2' and task_id = (select id from _private_tasks where identifier = 'b')), now());
select add_job('c', '{"n":"less urgent"}', priority => 1);
select complete_job_batch('worker', array(select id from jobs where task_identifier = 'b' and locked_by is not null));
select is(pg_temp.claimed(1), '{2}', 'a rescheduled job starts before a less urgent one of another task');

select * from finish();
rollback;
