-- Two tasks share a limit. A pause of one of them, its end, or a change of a limit of one of them leaves no job behind.
begin;
select plan(9);
set local search_path = graphile_worker, public;

-- Claims, completes and counts the jobs of the tasks until no more come, after up to two heartbeats without any.
create function pg_temp.drained(tasks text[] default '{a,b}') returns text as $body$
declare
  got  text := '';
  one  record;
  idle integer := 0;
begin
  while idle < 3 loop
    idle := idle + 1;
    for one in select b.id, b.task_identifier from get_job_batch('worker', tasks, now => clock_timestamp()) as b loop
      got := got || one.task_identifier;
      perform complete_job('worker', one.id);
      idle := 0;
    end loop;
  end loop;
  return got;
end;
$body$ language plpgsql;
create function pg_temp.add(n integer default 3) returns void as $body$
  select add_job(t, json_build_object('k', 1), run_at => '2020-01-01') from generate_series(1, n), unnest('{a,b}'::text[]) as t
$body$ language sql;

select set_limit('both', tasks => '{a,b}', by => 'payload:k', max_running => 1);
select pg_temp.add();
select get_job('worker', '{a}');
select get_job('worker');
select pause(task => 'b');
select complete_job('worker', id) from jobs where locked_by is not null;
select is(pg_temp.drained(), 'aa', 'only jobs of the task that is not paused start');
select resume(task => 'b');
select is(pg_temp.drained(), 'bbb', 'all jobs of the paused task start when it is resumed');

select pg_temp.add();
select get_job('worker'), get_job('worker');
select set_limit('second', tasks => '{b}', max_running => 1);
select complete_job('worker', id) from jobs where locked_by is not null;
select is(length(pg_temp.drained()), 5, 'all jobs start after a second limit of one task is set');
select pg_temp.add();
select get_job('worker'), get_job('worker');
select drop_limit('second');
select complete_job('worker', id) from jobs where locked_by is not null;
select is(length(pg_temp.drained()), 5, 'all jobs start after the second limit is dropped');

select pg_temp.add();
select get_job('worker'), get_job('worker');
select set_limit('both', tasks => '{a}', by => 'payload:k', max_running => 1);
select complete_job('worker', id) from jobs where locked_by is not null;
select is(length(pg_temp.drained()), 5, 'all jobs start after the limit has lost one of its tasks');
select pg_temp.add();
select get_job('worker'), get_job('worker');
select set_limit('both', max_running => 1);
select complete_job('worker', id) from jobs where locked_by is not null;
select is(length(pg_temp.drained()), 6 - 2,
  'all jobs but the two that run start after the limit has become one of all tasks without a key');

select pg_temp.add();
select get_job('worker'), get_job('worker');
select pause(limit_name => 'both');
select complete_job('worker', id) from jobs where locked_by is not null;
select is(pg_temp.drained(), '', 'no job starts while the limit is paused');
select resume(limit_name => 'both');
select is(length(pg_temp.drained()), 5, 'all jobs start when the limit is resumed');
select is((select count(*) from _private_jobs), 0::bigint, 'no job is left');

select * from finish();
rollback;
