-- A thousand permanently failed jobs are reported; the remedy deletes them.
begin;
select plan(5);
set local search_path = graphile_worker, public;

create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

select count(*) from add_jobs(array(
  select json_populate_record(null::job_spec, '{"identifier": "task"}') from generate_series(1, 1001)));
update _private_jobs set attempts = max_attempts where id > (select min(id) from _private_jobs);
update _private_jobs set locked_at = now(), locked_by = 'worker' where id = (select max(id) from _private_jobs);
select is_empty($$ select * from doctor() $$, '999 are not, nor is one that runs for the last time');

update _private_jobs set locked_at = null, locked_by = null;
select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('info', 'failed jobs', 'table _private_jobs',
             'Permanently failed jobs: 1000. They stay until they are deleted or retried; each search for stale locks reads them all.') $$,
  'a thousand are');

select matches(
  (select detail from _gw_find_failed_jobs(pages => pg_relation_size('_private_jobs') / current_setting('block_size')::bigint)),
  ': 1000\.', 'as many pages as there are make no estimate');

select pg_temp.apply_remedies('failed jobs');
select is_empty($$ select * from doctor() $$, 'the remedy deletes them');
select is((select count(*) from _private_jobs), 1::bigint, 'and nothing else');

select * from finish();
rollback;
