-- why() says next for the job that the next claim takes, although the lane of another job has a place in front that no claim takes.
begin;
select plan(6);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

create function pg_temp.next_and_claimed() returns table (said text[], claimed text) as $body$
begin
  said := array(select j.payload ->> 'name' from _private_jobs as j where exists (select from why(j.id) as w where w.reason = 'next'));
  claimed := (select b.payload ->> 'name' from get_job_batch('worker') as b);
  return next;
end;
$body$ language plpgsql;

select set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 9);
select get_job_batch('worker') from generate_series(1, 9);

-- The lane 1 has a suspect in front.
select add_job('tenant', '{"tenant": 1, "name": "suspect"}', run_at => '2020-01-01');
select pg_temp.suspect(id) from jobs;
select add_job('tenant', '{"tenant": 1, "name": "third"}', run_at => '2020-01-05');
select add_job('tenant', '{"tenant": 2, "name": "first"}', run_at => '2020-01-03');
select add_job('tenant', '{"tenant": 3, "name": "second"}', run_at => '2020-01-04');
select results_eq('select said, claimed from pg_temp.next_and_claimed()', $$ values ('{first}'::text[], 'first') $$,
  'the first job of another lane is next and is claimed in spite of a suspect in front');
select results_eq('select said, claimed from pg_temp.next_and_claimed()', $$ values ('{second}'::text[], 'second') $$,
  'the second job of the other lanes is next and is claimed');
select results_eq('select said, claimed from pg_temp.next_and_claimed()', $$ values ('{third}'::text[], 'third') $$,
  'the job behind the suspect in its lane is next and is claimed');

-- The lane 1 has had jobs in front that are gone, or are no longer in front.
delete from _gw_suspects;
delete from _private_jobs;
select add_job('tenant', '{"tenant": 1, "name": "gone"}', run_at => '2020-01-01');
select add_job('tenant', '{"tenant": 1, "name": "later"}', run_at => '2020-01-02');
select add_job('tenant', '{"tenant": 2, "name": "first"}', run_at => '2020-01-03', priority => 1);
delete from _private_jobs where payload ->> 'name' = 'gone';
select reschedule_jobs(array(select id from _private_jobs where payload ->> 'name' = 'later'), priority => 2);
select results_eq('select said, claimed from pg_temp.next_and_claimed()', $$ values ('{first}'::text[], 'first') $$,
  'the first job of another lane is next if the job in front is gone');
select results_eq('select said, claimed from pg_temp.next_and_claimed()', $$ values ('{later}'::text[], 'later') $$,
  'the job behind the one that is gone is next and is claimed');
select results_eq('select said, claimed from pg_temp.next_and_claimed()', $$ values ('{}'::text[], null::text) $$,
  'no job is next, and none is claimed');

select * from finish();
rollback;
