-- What the parts of a search return at their bounds.
begin;
select plan(27);
set local search_path = graphile_worker, public;

create function pg_temp.claim(batch integer default 1, queue_batch integer default 1, tasks text[] default '{task}') returns _gw_claim
language sql as $$ select _gw_new_claim('worker', tasks, batch, null, now(), null, null, queue_batch) $$;
create function pg_temp.place(job text) returns _gw_place language sql as $$
  select row(j.priority, j.run_at, j.id, null)::_gw_place from _private_jobs as j where j.key = job
$$;
create function pg_temp.queues(ids integer[]) returns text language sql as $$
  select string_agg(q.queue_name, ' ' order by u.n) from unnest(ids) with ordinality as u (id, n) join _private_job_queues as q on q.id = u.id
$$;
create function pg_temp.ids(names text[]) returns integer[] language sql as $$
  select array(select q.id from unnest(names) with ordinality as u (name, n) join _private_job_queues as q on q.queue_name = u.name order by u.n)
$$;
create function pg_temp.front(claim _gw_claim, before text default null) returns bigint language sql as $$
  select cardinality(_gw_front_queues(claim, pg_temp.place(before), _gw_next_queues(17), null))::bigint
$$;
\ir ../calls.psql

-- A claim of many jobs leaves out what other transactions have locked, but not what this one has.
select count(*) from add_jobs(array(select row('task', null, null, null, null, null, null, null)::job_spec from generate_series(1, 30)));
select count(*) from (select from _private_jobs order by id limit 3 for update) as l;
select is((select min(j.id) from _private_jobs as j where j.ctid = any (p.places)), (select min(j.id) from _private_jobs as j),
  'a claim finds the first of three jobs that its own transaction has locked')
  from _gw_plain_jobs(pg_temp.claim(25), null, 25, true, txid_current_snapshot()) as p;
delete from _private_jobs;

-- Of more than sixteen queues.
select count(*) from add_jobs(array(select row('other', null, 'f' || n, null, null, null, 9, null)::job_spec from generate_series(1, 20) as n));
select add_job('task', queue_name => 'a', job_key => 'a'), add_job('task', queue_name => 'b', job_key => 'b');
select is(pg_temp.front(pg_temp.claim(5), 'b'), 1::bigint, 'the search finds the queues in front of a place');
select is(pg_temp.queues(t.queue_ids) || t.is_all, 'atrue', 'the search by tasks finds the same queues, each job once')
  from _gw_queues_by_task(pg_temp.claim(5), pg_temp.place('b')) as t;
select count(*) from add_jobs(array(select row('task', null, 'busy', null, null, null, -1, null)::job_spec from generate_series(1, 15)));
update _private_job_queues set locked_at = now(), locked_by = 'other' where queue_name = 'busy';
select is(pg_temp.front(pg_temp.claim(1)), 1::bigint, 'the search finds a queue behind the jobs of a busy queue');
select is(pg_temp.calls('{_gw_next_queues}'), 2::bigint, 'each search looks once for more than sixteen queues');
select count(*) from add_jobs(array(select row('task', null, 'busy', null, null, null, 5, null)::job_spec from generate_series(1, 50)));
select count(*) from add_jobs(array(select row('other', null, 'q' || n, null, null, null, -1, null)::job_spec from generate_series(1, 20) as n));
select is(pg_temp.front(pg_temp.claim(2)), 2::bigint, 'the search finds two queues behind those of another task');
select is(pg_temp.calls('{_gw_next_queues}'), 3::bigint,
  'the search does not look at all queues when the queues it has found are enough');
select is(t.is_all, false,
  'the search by tasks is not complete if it finds as many jobs as it looks for') from _gw_queues_by_task(pg_temp.claim(2), row(9, now(), 1, null)::_gw_place) as t;
delete from _private_jobs where priority < 9;
select count(*) from add_jobs(array(select row('task', null, 'a', null, null, null, -1, null)::job_spec from generate_series(1, 20)));
select add_job('task', queue_name => 'b');
select is(pg_temp.front(pg_temp.claim(2)), 2::bigint, 'the search finds a queue behind twenty jobs of another one');
delete from _private_jobs;

insert into _private_jobs (task_id, job_queue_id, run_at, priority, id) overriding system value
select t.id, q.id, '-infinity'::timestamptz, 0, 0 from _private_tasks as t, _private_job_queues as q where t.identifier = 'task' and q.queue_name = 'a'
union all
select t.id, q.id, now(), 0, 9223372036854775807 from _private_tasks as t, _private_job_queues as q where t.identifier = 'task' and q.queue_name = 'b';
select is(pg_temp.queues(t.queue_ids), 'a b', 'the search finds jobs with the first and the last id')
  from _gw_queues_by_task(pg_temp.claim(5), row(1, now(), 1, null)::_gw_place) as t;
delete from _private_jobs;

-- Queues whose rows somebody has locked do not count, but are not all.
create or replace function _gw_may_lock(locker xid, snapshot txid_snapshot) returns boolean language sql as $$ select locker = '0' $$;
select add_job('task', queue_name => 'l' || n) from generate_series(1, 5) as n;
select count(*) from (select from _private_job_queues for update) as l;
select is(pg_temp.front(pg_temp.claim(1)), 5::bigint, 'the search finds a queue behind four that are locked');
select add_job('task', queue_name => 'l' || n) from generate_series(6, 19) as n;
select count(*) from (select from _private_job_queues for update) as l;
select is(pg_temp.front(pg_temp.claim(1)), 19::bigint, 'the search finds a queue behind eighteen that are locked');
delete from _private_jobs;

-- Future jobs of five hundred priorities.
select count(*) from add_jobs(array(select row('task', null, 'q1', case when n < 501 then now() + interval '1 hour' end, null, null, n, null)::job_spec
                                      from generate_series(1, 501) as n));
select is(t.is_all, false,
  'the search is not complete after five hundred priorities') from _gw_queues_by_task(pg_temp.claim(), row(1000, now(), 1, null)::_gw_place) as t;
select is(t.queue_ids, null,
  'the search does not look at jobs after five hundred priorities') from _gw_queues_by_task(pg_temp.claim(), row(1000, now(), 1, null)::_gw_place) as t;
update _private_jobs set job_queue_id = null;
select is(p.beyond, true,
  'the search without queues is not complete after five hundred priorities') from _gw_plain_jobs(pg_temp.claim(), null, 1, false, null) as p;
delete from _private_jobs where priority >= 500;
select is(p.beyond, false,
  'the search without queues is complete with fewer than five hundred priorities') from _gw_plain_jobs(pg_temp.claim(), null, 1, false, null) as p;
delete from _private_jobs;

-- Of jobs without queues.
select add_job('task', job_key => k) from unnest('{c,d}'::text[]) as k;
select is((p.plain[1]).id, (pg_temp.place('c')).id,
  'the search finds the job at the place from which it begins') from _gw_plain_jobs(pg_temp.claim(), pg_temp.place('c'), 9, false, null) as p;
select reads from _gw_plain_jobs(pg_temp.claim(), null, 2, false, null) \gset
select add_job('task', priority => 1);
select is(p.reads, :reads::bigint,
  'the search reads no further than there is room') from _gw_plain_jobs(pg_temp.claim(), null, 2, false, null) as p;

-- Of jobs of queues that the caller has locked.
select add_job('task', queue_name => q, job_key => null) from unnest('{a,b,l1}'::text[]) as q, generate_series(1, 3);
create function pg_temp.of_queues(batch integer, queue_batch integer, names text[]) returns text language sql as $$
  with places as materialized (select _gw_lock_queued_jobs(pg_temp.claim(batch, queue_batch), pg_temp.ids(names), '{}') as places)
  select string_agg(q.queue_name, ' ' order by j.id)
    from places as p
    join _private_jobs as j on j.ctid = any (p.places)
    join _private_job_queues as q on q.id = j.job_queue_id
$$;
select is(pg_temp.of_queues(4, 3, '{a,b,l1}'), 'a a b l1', 'the first job of each queue comes before further jobs');
select is(pg_temp.of_queues(2, 3, '{a,busy}'), 'a',
  'a batch has one job of each queue if there are as many queues as places, whether they have jobs');

-- Of their bytes.
select is(_gw_within_bytes('{"(9999,1)"}', 1)::text, '{"(9999,1)"}', 'the bytes of a single job are not read');
create function pg_temp.blocks(bytes bigint) returns bigint language sql as $$
  select _gw_within_bytes(array_agg(ctid), bytes) from _private_jobs where key in ('c', 'd');
  select pg_stat_get_xact_blocks_fetched('_private_jobs'::regclass)
$$;
select 255 * sum(pg_column_size(payload)) as most from _private_jobs where key in ('c', 'd') \gset
select pg_temp.blocks(:most + 1) - pg_temp.blocks(:most + 1) as blocks \gset
select is(pg_temp.blocks(:most) - pg_temp.blocks(:most), :blocks::bigint,
  'the bytes of jobs that are small enough are not read');
update _private_jobs set payload = '"x"' where key in ('c', 'd');
select is(cardinality(_gw_within_bytes(array_agg(ctid), 6)), 2,
  'jobs with exactly the limit of bytes are kept') from _private_jobs where key in ('c', 'd');
select is(cardinality(_gw_within_bytes(array_agg(ctid), 5)), 1,
  'a job that exceeds the limit of bytes is left') from _private_jobs where key in ('c', 'd');

-- Others.
update _private_jobs set job_queue_id = 0, locked_at = now(), locked_by = 'worker' where key = 'c';
select is(h.streak is null and h.width is null, true, 'a job without a queue has no streak')
  from _private_jobs as j, _gw_held_jobs('worker', array[j.id], _gw_lease(now())) as h where j.key = 'c';
select is(_gw_is_free(((c.id + 2147483648) & 4294967295)::text::xid, (c.id || ':' || c.id + 1 || ':')::txid_snapshot), false,
          'a transaction that is half of all others away is not taken as free') from txid_current() as c (id);
select _gw_new_claim('worker', null, 1, null, now(), '{"task": ["flag"]}', null, 1), fail_job_batch('worker', '[{"id": 1}]');
select is(pg_temp.calls('{_gw_mark_escapes,_gw_odd_escapes}'), 0::bigint,
  'escapes are looked for only where there are any');

select * from finish();
rollback;
