-- Because of jobs of other tasks the result may be too early, but it is never later than the first job of the given tasks.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('ours', run_at => now() + interval '2 hours');
select is(next_run_at('{unknown}'), null, 'an unknown task has no next due time');

select count(*) from add_jobs(array(select row('other', null, null, now() + n * interval '1 second',
                                          null, null, null, null)::job_spec
                                      from generate_series(1, 20) as n));
select is(next_run_at('{ours}'), now() + interval '2 hours',
  'a few jobs of another task in front do not change the next due time');
select is(next_run_at('{ours,other}'), now() + interval '1 second',
  'a job of another task is the next one if its task is given, too');

select count(*) from add_jobs(array(select row('other', null, null, now() + n * interval '1 second',
                                          null, null, null, null)::job_spec
                                      from generate_series(21, 120) as n));
select ok(next_run_at('{ours}') > now(), 'many jobs of another task in front give a next due time after now');
select ok(next_run_at('{ours}') <= now() + interval '2 hours',
  'the next due time is not later than the first job of the task');
select isnt(next_run_at('{unknown}'), now(),
  'the next due time of an unknown task behind many jobs of another is not now');

-- A worker that is woken for each 50 jobs of another task would ask 2000 times during this second.
select count(*) from add_jobs(array(select row('other', null, null, now() + n * interval '10 microseconds', null, null,
                                          n % 3, null)::job_spec
                                      from generate_series(1, 30000) as n));
select ok(next_run_at('{unknown}') >= now() + interval '0.1 seconds',
  'the search reads further if the jobs of another task are close together');
select add_job('ours', run_at => now() + interval '0.2 seconds', priority => 7);
select is(next_run_at('{ours}') , least(next_run_at('{unknown}'), now() + interval '0.2 seconds'),
  'the search does not go past the job of the given task');

select * from finish();
rollback;
