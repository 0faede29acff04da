-- A job that keeps its run_at when it is replaced is claimed when it is due, also if it has another lane since.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create function pg_temp.claimed(at timestamptz) returns text as $body$
  select coalesce(string_agg(b.key, ' '), '') from get_job_batch('worker', now => at) as b
$body$ language sql;

select set_limit('mail', tasks => '{mail}', by => 'payload:t', max_running => 1);
select get_job_batch('worker') from generate_series(1, 9);
select add_job('mail', '{"t": 1}', job_key => 'k', run_at => now() + interval '1 hour');
select is(pg_temp.claimed(now()), '', 'a job that is not due is not claimed');
select add_job('mail', '{"t": 2}', job_key => 'k', job_key_mode => 'preserve_run_at');
select is(pg_temp.claimed(now()), '', 'a job that was replaced and kept its run_at is not claimed before it');
select is(pg_temp.claimed(now() + interval '2 hours'), 'k',
  'a job that was replaced and kept its run_at is claimed after it');

select * from finish();
rollback;
