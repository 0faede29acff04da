-- Workers do not look again and again for what is over: a lane that was deleted by a transaction that did not see that claims
-- were to look at it, or a pause of everything whose end nobody has recorded yet.
begin;
select plan(5);
set local search_path = graphile_worker, public;

insert into _gw_fronts (lane_id, priority, run_at, job_id) values (2147483647, 0, '-infinity', 0);
select isnt(next_run_at(), null, 'a worker looks for jobs');
select get_job('worker');
select is(next_run_at(), null, 'and then no more');

select pause(until => clock_timestamp() + interval '1 hour');
select get_job('worker');
update _gw_pauses set until = clock_timestamp() - interval '1 second';
select isnt(next_run_at(), null, 'after the end of a pause a worker looks for jobs');
select get_job('worker');
select is(next_run_at(), null, 'and then no more');
select is((select count(*) from add_job('a') cross join get_job('worker') as g where g.id is not null), 1::bigint, 'a job starts');

select * from finish();
rollback;
