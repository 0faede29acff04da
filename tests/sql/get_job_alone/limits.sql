-- A suspect counts in its lanes, and waits for them.
begin;
select plan(4);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

select set_limit('exports', tasks => '{export}', max_running => 1);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('export', job_key => n::text) from generate_series(1, 3) as n;
select pg_temp.suspect(id) from jobs where key = '1';
select is((select array_agg(key) from get_job_batch('first')), '{2}', 'another job runs');
select is_empty($$ select id from get_job_alone('second') $$, 'the suspect waits for its slot');
select complete_job('first', id) from jobs where key = '2';
select results_eq($$ select key from get_job_alone('second') $$, array['1'], 'and takes it');
select is_empty($$ select id from get_job_batch('first') $$, 'so that no other job runs');

select * from finish();
rollback;
