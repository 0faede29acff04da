-- With every value of notify, fall_asleep returns the next due time, like next_run_at.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select is(next_run_at, null, 'there is no next due time without jobs') from fall_asleep('worker');
select add_job('ours', run_at => now() + interval '2 hours');
select add_job('other', run_at => now() + interval '1 hour');
select is(next_run_at, now() + interval '1 hour',
  'without a list of tasks the next due time is that of all tasks') from fall_asleep('worker');
select is(next_run_at, now() + interval '2 hours',
  'with a list of tasks the next due time is that of these tasks') from fall_asleep('worker', '{ours}');
select set_setting('notify', 'idle');
select is(next_run_at, now() + interval '2 hours',
  'a worker that is newly marked gets the next due time') from fall_asleep('worker', '{ours}');
select is(next_run_at, now() + interval '2 hours',
  'a worker that was marked before gets the next due time') from fall_asleep('worker', '{ours}');
select is(next_run_at, now() + interval '2 hours',
  'a worker that is not to be marked gets the next due time') from fall_asleep('worker', '{ours}', null);

select * from finish();
rollback;
