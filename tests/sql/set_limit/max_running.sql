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

select is(pg_temp.next(1), '1', 'the limited job of the first priority is claimed first');
select is(pg_temp.next(), '2 10 11', 'the next limited job and the others are claimed in their order');
select is(pg_temp.next(), '', 'no limited job starts while the lane is full');
select complete_job('worker', (select id from show_jobs(array(select id from jobs)) where payload::text = '1'));
select is(pg_temp.next(), '3', 'a completed job frees its slot');
select return_job('worker', (select id from show_jobs(array(select id from jobs)) where payload::text = '2'));
select is(pg_temp.next(), '2', 'a returned job frees its slot');
select fail_job('worker', (select id from show_jobs(array(select id from jobs)) where payload::text = '2'), 'test');
select is(pg_temp.next(), '4', 'a failed job frees its slot');
select count(*) from complete_job_batch('worker', array(select id from jobs where locked_by = 'worker'));
select is(pg_temp.next(), '5 6', 'a batch of completed jobs frees their slots');
select force_unlock_workers('{worker}');
select is(pg_temp.next(1), '5', 'a job of a worker that is unlocked by force frees its slot');
select is(pg_temp.next(), '6', 'only as many slots are free as there were');
delete from _private_jobs where locked_by is not null;
select is(pg_temp.next(), '', 'a row that was deleted by hand frees no slot before a heartbeat');
select _gw_sweep_limits();
select is(pg_temp.next(), '7 8', 'a heartbeat frees the slots of rows that were deleted by hand');

select * from finish();
rollback;
