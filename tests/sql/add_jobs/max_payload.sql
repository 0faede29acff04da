-- If the payload of one spec is too large, the whole call is refused, and the error says which spec it is.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select set_setting('max_payload', '1048576');
prepare add as
select add_jobs(array[
  json_populate_record(null::job_spec, '{"identifier": "task", "payload": {"n": 1}}'),
  row('task', to_json(repeat('x', 1048575)), null, null, null, null, null, null)::job_spec]);
select throws_ok('add', 'GWBPL', 'Payload has 1048577 bytes, at most 1048576 are allowed.',
  'a call with a spec whose payload is too large is refused');
select is((select count(*) from jobs), 0::bigint, 'a refused call adds no job');
do $$
declare
  said text;
begin
  execute 'execute add';
exception when sqlstate 'GWBPL' then
  get stacked diagnostics said = pg_exception_detail;
  perform set_config('gw.said', said, true);
end;
$$;
select is(current_setting('gw.said'), 'It is spec 2 of the call.',
  'the detail of the error says which spec is refused');


select add_job('task', json_build_array(repeat('x', 600000)), job_key => 'long');
select throws_ok(
  $$ select add_jobs(array[
       json_populate_record(null::job_spec, '{"identifier": "task", "job_key": "short"}'),
       row('task', json_build_array(repeat('y', 600000)), null, null, null, 'long', null, null)::job_spec]) $$,
  'GWBPL', 'The job under key ''long'' would have a payload of 1200008 bytes, at most 1048576 are allowed.',
  'an array that would become too large by appending is refused');
select results_eq($$ select key, length(payload::text) from _private_jobs $$, $$ values ('long', 600004) $$,
                  'the waiting job is unchanged, and the other job was not added');

select * from finish();
rollback;
