-- A lane can be paused, and closed by a service, also if only all lanes together are limited.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create function pg_temp.claimed() returns text[] as $body$
  select array_agg(payload ->> 'n' order by payload ->> 'n') from get_job_batch('worker', batch_size => 100, now => clock_timestamp())
$body$ language sql;

select set_limit('all', tasks => '{a}', by => 'payload:c', total_running => 5);
select pause(limit_name => 'all', lane => 'x');
select add_job('a', json_build_object('c', c, 'n', c)) from unnest('{x,y}'::text[]) as c;
select is(pg_temp.claimed(), '{y}', 'a paused lane starts no job');
select resume(limit_name => 'all', lane => 'x');
select is(pg_temp.claimed(), '{x}', 'a resumed lane starts its job');
select rate_limited('worker', id, null, '1 hour') from jobs where (select payload ->> 'c' from _private_jobs as j where j.id = jobs.id) = 'x';
select add_job('a', json_build_object('c', c, 'n', 'later ' || c)) from unnest('{x,y}'::text[]) as c;
select is(pg_temp.claimed(), '{later y}', 'a lane that a service has refused starts no job');

select * from finish();
rollback;
