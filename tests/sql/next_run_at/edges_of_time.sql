-- A job at infinity is never due and has no due time; the latest finite times are due times.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task', run_at => 'infinity', priority => -1), add_job('task', run_at => 'infinity', queue_name => 'queue'),
       add_job('task', run_at => 'infinity', job_key => 'parked');
select is(next_run_at(), null, 'jobs at infinity have no due time');
select results_eq($$select f.next_run_at, f.must_look_again from fall_asleep('worker') as f$$,
                  $$values (null::timestamptz, false)$$, 'fall_asleep() returns no due time for jobs at infinity');
select is_empty($$select * from get_job_batch('worker')$$, 'jobs at infinity are not claimed');

select add_job('task', run_at => '294276-12-31 23:59:59Z');
select is(next_run_at(), '294276-12-31 23:59:59Z', 'a job in the last year of PostgreSQL has a due time');
select ok(extract(epoch from next_run_at() - clock_timestamp()) > 9e12,
  'the distance of the latest due time can be computed');
select add_job('task', run_at => '9999-12-31Z', priority => 3, queue_name => 'queue');
select is(next_run_at('{task}'), '9999-12-31Z', 'an earlier job in a queue has the next due time');

select count(*) from add_jobs(array(select row('other', null, null, 'infinity', null, null, null, null)::job_spec
                                      from generate_series(1, 100) as n));
select is(next_run_at('{other}'), null, 'a hundred jobs at infinity have no due time');

select add_job('task', run_at => '-infinity'), add_job('task', run_at => '4713-01-01 BC');
select results_eq($$select j.run_at from get_job_batch('worker', batch_size => 5) as j order by 1$$,
                  $$values ('-infinity'::timestamptz), ('4713-01-01 BC')$$, 'a job at -infinity is claimed');
select is(next_run_at(), '9999-12-31Z', 'jobs at -infinity do not change the next due time');

select * from finish();
rollback;
