-- If the database would refuse one spec, the whole call is refused; the detail says which spec it is.
begin;
select plan(11);
set local search_path = graphile_worker, public;

create function pg_temp.refusal_of(bad job_spec)
  returns text
  language plpgsql
as $$
declare
  spec_number text;
begin
  perform add_jobs(array[row('task', null, null, null, null, null, null, null)::job_spec, bad, bad]);
  return 'no error';
exception when others then
  get stacked diagnostics spec_number = pg_exception_detail;
  return sqlstate || ' ' || spec_number;
end;
$$;

select is(pg_temp.refusal_of(row(null, null, null, null, null, null, null, null)),
          'GWBNI It is spec 2 of the call.', 'a spec without a task is refused');
select is(pg_temp.refusal_of(null), 'GWBNI It is spec 2 of the call.', 'a spec that is null is refused');
select is(pg_temp.refusal_of(row(repeat('t', 129), null, null, null, null, null, null, null)),
          'GWBID It is spec 2 of the call.', 'a spec with a task identifier that is too long is refused');
select is(pg_temp.refusal_of(row('task', null, repeat('q', 129), null, null, null, null, null)),
          'GWBQN It is spec 2 of the call.', 'a spec with a queue name that is too long is refused');
select is(pg_temp.refusal_of(row('task', null, null, null, null, repeat('k', 513), null, null)),
          'GWBJK It is spec 2 of the call.', 'a spec with a key that is too long is refused');
select is(pg_temp.refusal_of(row('task', null, null, null, null, '', null, null)),
          'GWBJK It is spec 2 of the call.', 'a spec with an empty key is refused');
select is(pg_temp.refusal_of(row('task', null, null, null, 0::smallint, null, null, null)),
          'GWBMA It is spec 2 of the call.', 'a spec with max_attempts of 0 is refused');
select is(pg_temp.refusal_of(row('task', null, null, null, null, null, null, array['a', null])),
          'GWBNF It is spec 2 of the call.', 'a spec with a flag that is null is refused');
select throws_ok($$ select add_jobs(array[null, null]::job_spec[]) $$, 'GWBNI', 'Task identifier must not be null.',
                 'a call with nothing but null specs is refused');
select is_empty($$ select id from _private_jobs $$, 'refused calls have added no job');
select is_empty($$ select id from _private_tasks $$, 'refused calls have added no names of tasks');

select * from finish();
rollback;
