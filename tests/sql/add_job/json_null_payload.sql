-- JSON null is a valid payload; only SQL null means the default.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select is((add_job('task', 'null')).payload::text, 'null', 'JSON null is stored as it is');
select is((add_job('task', null)).payload::text, '{}', 'SQL null becomes an empty object');
select is(
  (select array_agg(payload::text)
     from add_jobs(array[row('task', 'null', null, null, null, null, null, null)::job_spec,
                         row('task', null, null, null, null, null, null, null)::job_spec])),
  array['null', '{}'],
  'add_jobs stores JSON null as it is, and SQL null as an empty object');

select * from finish();
rollback;
