-- With every value of notify, fall_asleep returns the next due time, like next_run_at.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select is(next_run_at, null, 'nothing will be due') from fall_asleep('worker');
select add_job('ours', run_at => now() + interval '2 hours');
select add_job('other', run_at => now() + interval '1 hour');
select is(next_run_at, now() + interval '1 hour', 'all tasks') from fall_asleep('worker');
select is(next_run_at, now() + interval '2 hours', 'these tasks') from fall_asleep('worker', '{ours}');
select set_setting('notify', 'idle');
select is(next_run_at, now() + interval '2 hours', 'newly marked') from fall_asleep('worker', '{ours}');
select is(next_run_at, now() + interval '2 hours', 'marked before') from fall_asleep('worker', '{ours}');
select is(next_run_at, now() + interval '2 hours', 'not to be marked') from fall_asleep('worker', '{ours}', null);

select * from finish();
rollback;
