-- A batch ends before its payloads, uncompressed, would exceed max_bytes together, but contains at least one job. The
-- remaining jobs do not change.
begin;
select plan(18);
set local search_path = graphile_worker, public;

create function pg_temp.next(jobs integer, bytes integer)
  returns text
  language sql
as $$
  select string_agg(b.key, ' ' order by b.place)
    from get_job_batch('worker', batch_size => jobs, max_bytes => bytes) with ordinality as b (
           id, task_identifier, payload, queue_name, priority, run_at, attempts, max_attempts, key, flags, lease, created_at,
           last_error, revision, streak, width, place)
$$;

create function pg_temp.add(name text, payload json, queue text default null)
  returns void
  language sql
as $$
  select from add_job('task', payload, queue, job_key => name)
$$;

select pg_temp.add('a', to_json(repeat('x', 998))), pg_temp.add('b', to_json(repeat('x', 998))), -- 1000 bytes each
       pg_temp.add('c', to_json(repeat('x', 998))), pg_temp.add('d', '1'), pg_temp.add('e', '1');
select is(pg_temp.next(100, 999), 'a', 'a batch has at least one job, however large its payload is');
select is(pg_temp.next(100, 2000), 'b c', 'a batch has payloads with exactly max_bytes together');
select is((select string_agg(key || attempts, ' ' order by key) from jobs where locked_at is null), 'd0 e0',
  'the jobs that are left wait without an attempt');
select is(pg_temp.next(100, 0), 'd', 'a batch has one job, however small max_bytes is');
select is(pg_temp.next(100, null), 'e', 'null for max_bytes is no limit');

-- Of 1 MB each, which is 12 kB as it is stored.
select pg_temp.add('f' || n, to_json(repeat('x', 1000000))) from generate_series(1, 4) as n;
select ok(pg_column_size(payload) < 20000, 'a large payload is stored compressed') from _private_jobs where key = 'f1';
select is(pg_temp.next(100, 2500000), 'f1 f2', 'compressed payloads count uncompressed');
select is(pg_temp.next(1, 10), 'f3', 'a claim of one job takes it whatever max_bytes is');
select is((select string_agg(key, ' ') from get_job_batch('worker', batch_size => 100)), 'f4',
  'a claim has no max_bytes by default');

-- In queues and without, by one order.
select pg_temp.add('g', to_json(repeat('x', 998)), 'g'), pg_temp.add('h', to_json(repeat('x', 998))),
       pg_temp.add('i', to_json(repeat('x', 998)), 'i'), pg_temp.add('j', to_json(repeat('x', 998)), 'g'),
       pg_temp.add('k', to_json(repeat('x', 998)));
select is(pg_temp.next(100, 2500), 'g h', 'jobs in queues and without are counted together');
select is((select string_agg(queue_name, ' ') from _private_job_queues where locked_at is not null), 'g',
  'the queue of a job that is left is not locked');
select is(pg_temp.next(100, 2500), 'i k', 'the head job of the queue that was left is claimed next');
select pg_temp.add('l', '1', 'l'), pg_temp.add('m', to_json(repeat('x', 998)), 'm');
select is(pg_temp.next(100, 10), 'l', 'a batch has one job of a queue, however small max_bytes is');
select is(pg_temp.next(100, 10), 'm', 'a batch has one job of a queue, however large its payload is');

-- Payloads that are stored elsewhere, for they are large and not to be compressed.
create function pg_temp.fetched() -- blocks of where those are
  returns bigint
  language sql
as $$
  select pg_stat_get_xact_blocks_fetched(c.reltoastrelid) from pg_class as c where c.oid = '_private_jobs'::regclass
$$;
select pg_temp.add('n' || n, (select to_json(string_agg(md5(n * i + i || ''), '')) from generate_series(1, 3000) as i))
  from generate_series(1, 20) as n;
create temporary table before as select pg_temp.fetched() as blocks;
select is((select count(id) from get_job_batch('worker', batch_size => 1)), 1::bigint,
  'a claim of one job with a large payload takes it');
select is(pg_temp.fetched(), blocks, 'a claim of one job does not read its payload') from before;
select is((select count(id) from get_job_batch('worker', batch_size => 100, max_bytes => 200000)), 2::bigint,
  'a claim of many jobs ends at max_bytes');
select ok(pg_temp.fetched() between blocks + 1 and blocks + 4 * 96000 / current_setting('block_size')::integer,
          'a claim reads no more than the payloads up to max_bytes') from before;

select * from finish();
rollback;
