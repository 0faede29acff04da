-- Numbers out of range are refused with a SQLSTATE, and nothing is changed.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task');
create function pg_temp.ids() returns bigint[] language sql as $$ select array_agg(id) from _private_jobs $$;

select throws_ok($$ select reschedule_jobs(pg_temp.ids(), priority => 32768) $$, 'GWBPR');
select throws_ok($$ select reschedule_jobs(pg_temp.ids(), priority => -32769) $$, 'GWBPR');
select throws_ok($$ select reschedule_jobs(pg_temp.ids(), attempts => -1) $$,
                 'GWBAR', 'Job attempts must be between 0 and 32767, not -1.');
select throws_ok($$ select reschedule_jobs(pg_temp.ids(), attempts => 32768) $$, 'GWBAR');
select throws_ok($$ select reschedule_jobs(pg_temp.ids(), max_attempts => 0) $$, 'GWBMA');
select throws_ok($$ select reschedule_jobs(pg_temp.ids(), max_attempts => 32768) $$, 'GWBMR');
select lives_ok($$ select reschedule_jobs(pg_temp.ids(), priority => -32768, attempts => 32767, max_attempts => 32767) $$,
                'the greatest and the least numbers that fit are accepted');
select results_eq(
  $$ select priority, attempts, max_attempts from _private_jobs $$,
  $$ values ((-32768)::smallint, 32767::smallint, 32767::smallint) $$,
  'the accepted numbers are stored');

select is_empty($$ select reschedule_jobs('{}', priority => 40000) $$, 'an invalid priority is accepted without jobs');

select * from finish();
rollback;
