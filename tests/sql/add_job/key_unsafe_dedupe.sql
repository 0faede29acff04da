-- Mode unsafe_dedupe changes nothing in an existing job with the key, in any state, except that it increments the revision.
begin;
select plan(4);
set local search_path = graphile_worker, public;

create temp table first as
select * from add_job('task', '{"n": 1}', 'queue', now() - interval '1 hour', 3, 'key', 5, '{a}', 'unsafe_dedupe');

create function pg_temp.dedupe()
  returns setof _private_jobs
  language sql
as $$
  select * from add_job('other', '{"n": 2}', 'elsewhere', now(), 4, 'key', 6, '{b}', 'unsafe_dedupe')
$$;
create function pg_temp.is_unchanged()
  returns boolean
  language sql
as $$
  select (d.id, d.task_id, d.payload::text, d.job_queue_id, d.run_at, d.max_attempts, d.priority, d.flags)
       = (f.id, f.task_id, f.payload::text, f.job_queue_id, f.run_at, f.max_attempts, f.priority, f.flags)
    from pg_temp.dedupe() as d, first as f
$$;

select ok(pg_temp.is_unchanged(), 'a waiting job does not change');
select get_job('worker');
select ok(pg_temp.is_unchanged(), 'a running job does not change');
select fail_job('worker', (select id from first), 'no luck', permanent => true, retry_at => (select run_at from first));
select ok(pg_temp.is_unchanged(), 'a permanently failed job does not change');
select results_eq(
  $$ select count(*), max(revision), max(last_error), bool_or(is_available) from _private_jobs $$,
  $$ values (1::bigint, 3, 'no luck', false) $$,
  'no other job was added, and the revision counts the calls');

select * from finish();
rollback;
