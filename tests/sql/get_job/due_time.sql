-- A job is not claimed before its run_at; the current time can be given as an argument.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', '1', run_at => now() + interval '1 microsecond'),
       add_job('task', '2', 'queue', run_at => now() + interval '1 hour');

select is_empty($$ select id from get_job('worker') $$, 'no job is due before its run_at');
select is_empty($$ select id from get_job('worker', now => now() - interval '1 day') $$,
  'no job is due if the given time is a day earlier');
select is((select payload::text from get_job('worker', now => now() + interval '1 microsecond')), '1',
  'a job is due at its run_at');
select is_empty($$ select id from get_job('worker', now => now() + interval '59 minutes') $$,
  'a job in a queue is not claimed before its run_at');
select is((select payload::text from get_job('worker', now => now() + interval '1 hour')), '2',
  'a job in a queue is claimed at its run_at');

select * from finish();
rollback;
