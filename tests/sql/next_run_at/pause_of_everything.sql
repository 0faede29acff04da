-- Workers do not look again and again for what is over: a pause of everything whose end nobody has recorded yet.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select pause(until => clock_timestamp() + interval '1 hour');
select is((select count(*) from add_job('a') cross join get_job('worker') as g where g.id is not null), 0::bigint,
  'no job starts while everything is paused');
select cmp_ok(next_run_at(), '<=', clock_timestamp() + interval '1 hour',
  'the next due time is not later than the end of the pause');
update _gw_pauses set until = clock_timestamp() - interval '1 second';
select is((select count(*) from get_job('worker') as g where g.id is not null), 1::bigint,
  'the job starts after the end of the pause');
select is(next_run_at(), null, 'no worker looks again after the end of the pause');

select * from finish();
rollback;
