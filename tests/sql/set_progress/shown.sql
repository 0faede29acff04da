-- The last progress that the current attempt has reported is shown.
begin;
select plan(18);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

create function pg_temp.shown()
  returns text
  language sql
as $$
  select concat_ws(' ', s.progress, s.progress_note) from show_jobs('{1}') as s
$$;

select add_job('task', job_key => 'k', max_attempts => 3);
create temp table claimed as select * from get_job('w');
select is(pg_temp.shown(), '', 'a job has no progress at first');
select is(set_progress('w', 1, (select lease from claimed), 12.5, 'half of a quarter'), true,
  'set_progress() by the holder of the job returns true');
select is(pg_temp.shown(), '12.5 half of a quarter', 'show_jobs() shows the progress');
select is((select progress_at between now() and clock_timestamp() from show_jobs('{1}')), true,
  'show_jobs() shows since when the progress is');
select matches((select detail from why(1)), '^Worker w has run it since .*\. Its progress at .*: 12.5 % half of a quarter$',
  'why() shows the progress');
select set_progress('w', 1, null, null, 'counting');
select is(pg_temp.shown(), 'counting', 'the last progress is shown, without a percentage if there is none');
select matches((select detail from why(1)), ': counting$', 'why() shows a note without a percentage');
select is(set_progress('w', 1, null, 100, repeat('x', 1000)), true, 'a note of a thousand characters is accepted');
select set_progress('w', 1, null, 99);
select is(pg_temp.shown(), '99', 'a progress without a note is shown');

select is(set_progress('w', 1, 7, 1), false, 'set_progress() with another lease returns false');
select is(set_progress('other', 1, null, 1), false, 'set_progress() by another worker returns false');
select is(set_progress('w', 2, null, 1), false, 'set_progress() for a job that does not exist returns false');
select throws_ok(format($$ select set_progress('w', 1, null, %s) $$, p), 'GWWPR', null, p || ' is refused')
  from unnest(array['-0.1', '100.1', '''NaN''']) as p;

select fail_job('w', 1, 'no luck', retry_in => '0');
select is(pg_temp.shown(), '99', 'the progress of a failed attempt is still shown');
select get_job('w');
select is(pg_temp.shown(), '', 'the next attempt begins without progress');
select set_progress('w', 1, null, 5);
select return_job('w', 1);
select add_job('task', job_key => 'k');
select is(pg_temp.shown(), '', 'a job that is requested again has no progress');

select * from finish();
rollback;
