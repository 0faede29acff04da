-- No more jobs run at once than the limit allows, in whatever way they end; jobs to which no limit applies continue.
begin;
select plan(11);
set local search_path = graphile_worker, public;

create function pg_temp.next(jobs integer default 10)
  returns text
  language sql
as $$ select coalesce(string_agg(b.payload::text, ' ' order by b.place), '')
        from get_job_batch('worker', batch_size => jobs) with ordinality as b (
               id, task_identifier, payload, queue_name, priority, run_at, attempts, max_attempts, key, flags, lease,
               created_at, last_error, revision, streak, width, place) $$;

select set_limit('exports', tasks => '{export}', max_running => 2);
select get_job_batch('worker') from generate_series(1, 3); -- moves nothing
select add_job('export', to_json(n), priority => 0) from generate_series(1, 9) as n;
select add_job('other', to_json(n), priority => 1) from generate_series(10, 11) as n;

select is(pg_temp.next(1), '1', 'the first job is limited');
select is(pg_temp.next(), '2 10 11', 'the others come in their order');
select is(pg_temp.next(), '', 'then the lane is full');
select complete_job('worker', (select id from show_jobs(array(select id from jobs)) where payload::text = '1'));
select is(pg_temp.next(), '3', 'a completed job makes room');
select return_job('worker', (select id from show_jobs(array(select id from jobs)) where payload::text = '2'));
select is(pg_temp.next(), '2', 'a returned one, too');
select fail_job('worker', (select id from show_jobs(array(select id from jobs)) where payload::text = '2'), 'test');
select is(pg_temp.next(), '4', 'and one that fails');
select count(*) from complete_job_batch('worker', array(select id from jobs where locked_by = 'worker'));
select is(pg_temp.next(), '5 6', 'and a batch');
select force_unlock_workers('{worker}');
select is(pg_temp.next(1), '5', 'and workers that are unlocked by force');
select is(pg_temp.next(), '6', 'which makes no more room than there was');
delete from _private_jobs where locked_by is not null;
select is(pg_temp.next(), '', 'nothing says that rows were deleted by hand');
select _gw_sweep_limits();
select is(pg_temp.next(), '7 8', 'but heartbeats find it');

select * from finish();
rollback;
