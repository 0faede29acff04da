-- A job is not claimed before its run_at; the current time can be given as an argument.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', '1', run_at => now() + interval '1 microsecond'),
       add_job('task', '2', 'queue', run_at => now() + interval '1 hour');

select is_empty($$ select id from get_job('worker') $$, 'nothing is due');
select is_empty($$ select id from get_job('worker', now => now() - interval '1 day') $$, 'nor was it yesterday');
select is((select payload::text from get_job('worker', now => now() + interval '1 microsecond')), '1', 'at run_at it is due');
select is_empty($$ select id from get_job('worker', now => now() + interval '59 minutes') $$, 'queued jobs wait as well');
select is((select payload::text from get_job('worker', now => now() + interval '1 hour')), '2', 'until they are due');

select * from finish();
rollback;
