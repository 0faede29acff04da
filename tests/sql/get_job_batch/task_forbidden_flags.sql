-- Jobs with a forbidden flag of their task are not claimed; the same flag on jobs of other tasks has no effect.
begin;
select plan(11);
set local search_path = graphile_worker, public;

select add_job('unflagged', '1', flags => '{a}'), -- an id before those of the others
       add_job('one', '2', flags => '{a}'),
       add_job('two', '3', flags => '{a}'),
       add_job('one', '4', flags => '{b,c}'),
       add_job('two', '5', flags => '{b}'),
       add_job('two', '6', flags => '{c}'),
       add_job('one', '7'),
       add_job('last', '8', flags => '{a,b,c}');

-- What a claim takes, undone.
create function pg_temp.taken(
  task_flags json,
  tasks      text[]  default null,
  batch_size integer default 9,
  flags      text[]  default null
)
  returns text
  language plpgsql
as $$
declare
  taken text;
begin
  begin
    select coalesce(string_agg(b.payload::text, ' ' order by b.ordinality), '')
      into taken
      from graphile_worker.get_job_batch('worker', tasks, batch_size, flags, task_forbidden_flags => task_flags)
           with ordinality as b;
    raise exception sqlstate 'UNDO1';
  exception when sqlstate 'UNDO1' then
    return taken;
  end;
end;
$$;

select is(pg_temp.taken('{"one": ["a"]}'), '1 3 4 5 6 7 8', 'a job of this task with this flag is not claimed');
select is(pg_temp.taken('{"two": ["b", "c"], "one": ["c"]}'), '1 2 3 7 8',
  'the lists of flags of two tasks may have different lengths');
select is(pg_temp.taken('{"two": [], "one": ["x", "a"]}'), '1 3 4 5 6 7 8',
  'an empty list forbids no flags of its task');
select is(pg_temp.taken('{"two": []}'), '1 2 3 4 5 6 7 8', 'an empty list alone forbids nothing');
select is(pg_temp.taken('{}'), '1 2 3 4 5 6 7 8', 'an object without tasks forbids nothing');
select is(pg_temp.taken('{"nobody knows it": ["a"]}'), '1 2 3 4 5 6 7 8', 'an unknown task has no effect');
select is(pg_temp.taken('{"one": ["a"], "one": ["b"]}'), '1 2 3 5 6 7 8',
  'the last list of flags counts if a task occurs twice');
select is(pg_temp.taken('{"one": ["a"], "two": ["a"]}', '{two,last}'), '5 6 8',
  'forbidden flags of tasks apply together with a list of tasks');
select is(pg_temp.taken('{"one": ["a"]}', flags => '{c}'), '1 3 5 7',
  'forbidden flags of tasks apply together with flags that are forbidden in all tasks');
select is(pg_temp.taken('{"one": ["a"], "unflagged": ["a"]}', batch_size => 3), '3 4 5', 'skipped jobs do not count in the batch');
select is(pg_temp.taken(null), '1 2 3 4 5 6 7 8', 'null forbids nothing');

select * from finish();
rollback;
