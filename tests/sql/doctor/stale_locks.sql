-- Locks that are older than four hours, or whose registered worker was not seen for twice dead_after, are reported for
-- each worker; the remedy frees them.
begin;
select plan(10);
set local search_path = graphile_worker, public;

create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

select add_job('task', queue_name => 'queue of ' || w, job_key => w)
  from unnest(array['silent', 'live', 'foreign', 'expired']) as w;
select register_worker('silent', host => 'db1', pid => 7), register_worker('live');
select get_job_batch('worker', batch_size => 4);
update _private_jobs set locked_by = key, locked_at = now() - interval '3 hours 59 minutes';
update _private_jobs set locked_at = now() - interval '4 hours 1 second' where key = 'expired';
update _private_job_queues as q set locked_by = j.locked_by, locked_at = j.locked_at
  from _private_jobs as j where j.job_queue_id = q.id;

update _gw_workers set last_seen_at = now() - interval '1 minute';
select results_eq(
  $$ select severity, finding, subject from doctor() $$,
  $$ values ('warning', 'stale lock', 'worker expired') $$,
  'a worker with a lock that is older than four hours is reported');

update _gw_workers set last_seen_at = now() - interval '61 seconds' where id = 'silent';
select results_eq(
  $$ select subject from doctor() $$,
  $$ values ('worker expired'), ('worker silent') $$,
  'a worker that was not seen for twice dead_after is reported after the one with the oldest lock');
select set_setting('dead_after', '1 hour');
select is_empty($$ select * from doctor() where subject = 'worker silent' $$,
  'a worker that was seen within twice dead_after is not reported');
select set_setting('dead_after', '10 seconds');
update _gw_workers set last_seen_at = now() - interval '21 seconds' where id = 'silent';
update _gw_workers set last_seen_at = now() where id = 'live';
select isnt_empty($$ select * from doctor() where subject = 'worker silent' $$,
  'a worker is reported earlier if dead_after is shorter');
select is(
  (select detail from doctor() where subject = 'worker silent'),
  'It has held jobs: 1, queues: 1; the oldest for 03:59:00. It was last seen 00:00:21 ago (host db1, pid 7). Until they '
  'are freed, these jobs and the next jobs of these queues wait.',
  'the finding says what the worker holds, since when, and where it ran');

update _private_jobs set locked_by = null where key = 'expired';
update _private_job_queues set locked_by = null where queue_name = 'queue of expired';
select set_eq(
  $$ select subject, detail like 'It has held jobs: 1, queues: 1;%' from doctor() $$,
  $$ values ('worker unknown', true), ('worker silent', true) $$,
  'a lock without an owner is reported');

select pg_temp.apply_remedies('stale lock');
select is_empty($$ select * from doctor() $$, 'the remedies free the stale locks, which ends the findings');
select set_eq(
  $$ select key from _private_jobs where locked_at is null $$, array['silent', 'expired'],
  'the remedies free no other locks');

update _private_jobs set locked_at = '-infinity', locked_by = 'odd' where key = 'live';
select matches(
  (select detail from doctor()), 'It has held jobs: 1, queues: 0; the oldest for ever\.',
  'a lock without a time is reported, too');


update _private_jobs set locked_at = now() - interval '5 hours', locked_by = 'live' where key = 'live';
select matches(
  (select detail || ' ' || remedy from doctor()),
  'It is alive but has not renewed them for four hours, so it may not know of them\. .* Restart the worker;',
  'a live worker with locks older than four hours is reported with another remedy');

select * from finish();
rollback;
