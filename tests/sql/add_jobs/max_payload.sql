-- One spec whose payload is too large refuses the whole call, and the error says which.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select set_setting('max_payload', '1048576');
prepare add as
select add_jobs(array[
  json_populate_record(null::job_spec, '{"identifier": "task", "payload": {"n": 1}}'),
  row('task', to_json(repeat('x', 1048575)), null, null, null, null, null, null)::job_spec]);
select throws_ok('add', 'GWBPL', 'Payload has 1048577 bytes, at most 1048576 are allowed.', 'the second is too large');
select is((select count(*) from jobs), 0::bigint, 'nothing was added');
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
select is(current_setting('gw.said'), 'It is spec 2 of the call.', 'the detail names it');

select * from finish();
rollback;
