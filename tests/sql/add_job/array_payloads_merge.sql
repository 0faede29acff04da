-- If the payload of the waiting job and the new one are both arrays, a replacement appends instead of overwriting.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', '[1]', job_key => 'key');
select is((add_job('task', '[{"b": 2}, 3]', job_key => 'key')).payload::text, '[1, {"b": 2}, 3]',
  'the elements of the new array are appended to those of the waiting job');
select is(
  (add_job('task', '[4]', job_key => 'key', job_key_mode => 'preserve_run_at')).payload::text,
  '[1, {"b": 2}, 3, 4]',
  'preserve_run_at appends the elements of the new array, too');
select is((add_job('task', '{"n": 5}', job_key => 'key')).payload::text, '{"n": 5}',
  'the payload of a waiting job that is an array is replaced by an object');
select is((add_job('task', '[6]', job_key => 'key')).payload::text, '[6]',
  'the payload of a waiting job that is an object is replaced by an array');
select get_job('worker');
select is((add_job('task', '[7]', job_key => 'key')).payload::text, '[7]',
  'the payload of a running job is not taken over');

select * from finish();
rollback;
