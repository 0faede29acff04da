-- Of jobs of other tasks in front, however many, the answer may be too early, but never later than the first of ours.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('ours', run_at => now() + interval '2 hours');
select is(next_run_at('{unknown}'), null, 'of an unknown task there is none');

select count(*) from add_jobs(array(select row('other', null, null, now() + n * interval '1 second',
                                          null, null, null, null)::job_spec
                                      from generate_series(1, 20) as n));
select is(next_run_at('{ours}'), now() + interval '2 hours', 'a few jobs of another task do not matter');
select is(next_run_at('{ours,other}'), now() + interval '1 second', 'unless the task is named');

select count(*) from add_jobs(array(select row('other', null, null, now() + n * interval '1 second',
                                          null, null, null, null)::job_spec
                                      from generate_series(21, 120) as n));
select ok(next_run_at('{ours}') > now(), 'with many in front it is after now');
select ok(next_run_at('{ours}') <= now() + interval '2 hours', 'and not too late');
select isnt(next_run_at('{unknown}'), now(), 'even for a task without a job it is never now');

select * from finish();
rollback;
