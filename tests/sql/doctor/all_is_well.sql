-- doctor() returns nothing for a healthy queue, and calls each of its finding functions.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select is_empty($$ select * from doctor() $$, 'an empty queue has no findings');

select add_job('task', queue_name => 'queue'), add_job('task'), add_job('task', max_attempts => 1);
select get_job('worker'), get_job('worker');
update _private_jobs set attempts = max_attempts where id = (select max(id) from _private_jobs);
select is_empty($$ select * from doctor() $$, 'a queue where jobs wait, run and have failed has no findings');

select register_worker('registered', '{task}');
select is_empty($$ select * from doctor() $$, 'a queue with a registered worker has no findings');

select is_empty(
  $$ select p.proname
       from pg_proc as p
      where p.pronamespace = 'graphile_worker'::regnamespace
        and p.proname like '\_gw\_find\_%'
        and strpos((select f.prosrc from pg_proc as f where f.oid = '_gw_findings'::regproc), p.proname || '(') = 0 $$,
  'doctor() calls each finding function');

select * from finish();
rollback;
