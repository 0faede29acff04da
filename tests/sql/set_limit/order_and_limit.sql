-- A queue name gives order, and a limit of the task gives number and rate, as docs/limits.md shows.
begin;
select plan(12);

select graphile_worker.set_limit('uploads', tasks => '{upload}', max_running => 20, rate => 100, per => '1 minute');
select graphile_worker.add_job('upload', '{"account": 7}', queue_name => 'account:7');
select graphile_worker.add_job('upload', '{"account": 7}', queue_name => 'account:7') from generate_series(1, 2);
select graphile_worker.add_job('upload', json_build_object('account', n), queue_name => 'account:' || n) from generate_series(8, 40) as n;
select graphile_worker.add_job('other', queue_name => 'account:7');

create function pg_temp.claim(size integer) returns table (id bigint, task text, queue text) language sql as $body$
  select g.id, g.task_identifier, g.queue_name
    from graphile_worker.get_job_batch('worker', batch_size => size, now => clock_timestamp(), queue_batch => 10) as g
$body$;
create function pg_temp.claimed() returns table (id bigint, account text) language sql as $body$
  select j.id, j.payload ->> 'account' from graphile_worker._private_jobs as j where j.locked_by = 'worker' order by j.id
$body$;

select is((select count(*) from (select pg_temp.claim(50) from generate_series(1, 3)) as c), 20::bigint,
  'as many jobs of all accounts run as the limit allows');
select is((select count(distinct c.account) from pg_temp.claimed() as c), 20::bigint, 'one job of each account runs');
select is((select min(c.id) from pg_temp.claimed() as c where c.account = '7'),
          (select min(j.id) from graphile_worker._private_jobs as j where j.payload ->> 'account' = '7'),
          'the first job of the account runs');
select is_empty($$ select * from pg_temp.claim(50) $$, 'no further job starts while the limit is full');

select graphile_worker.complete_job('worker', (select c.id from pg_temp.claimed() as c where c.account = '7'));
select is((select array_agg(queue) from pg_temp.claim(50)), '{account:7}'::text[],
  'the next job of the account comes before those of other accounts');
select graphile_worker.complete_job('worker', c.id) from pg_temp.claimed() as c where c.account = '7';
select is((select array_agg(queue) from pg_temp.claim(50)), '{account:7}'::text[],
  'the third job of the account starts when the second has ended');
select graphile_worker.set_limit('uploads', tasks => '{upload}', max_running => 1);
select graphile_worker.complete_job('worker', c.id) from pg_temp.claimed() as c where c.account = '7';
select is((select array_agg(task || ' ' || queue) from pg_temp.claim(50)), '{other account:7}'::text[],
  'a job of the queue that is not limited starts when it is its turn');
delete from graphile_worker._private_jobs;
select graphile_worker._gw_sweep_limits();

-- While a limit holds back the first job of a queue, jobs of other tasks behind it wait as well.
select graphile_worker.add_job('upload');
select isnt_empty($$ select * from pg_temp.claim(1) $$, 'a job takes the slot of the limit');
select graphile_worker.add_job('upload', queue_name => 'q');
select graphile_worker.add_job('other', queue_name => 'q');
select is_empty($$ select * from pg_temp.claim(1) union all select * from pg_temp.claim(9) $$,
  'a job of another task waits behind one that a limit holds back');
delete from graphile_worker._private_jobs;
select graphile_worker._gw_sweep_limits();

select graphile_worker.set_limit('imports', tasks => '{import}', by => 'payload:account', max_running => 4);
select graphile_worker.add_job('import', '{"account": 7}');
select graphile_worker.add_job('import', json_build_object('account', 7 + n % 2)) from generate_series(1, 9) as n;
select is((select count(*) from (select pg_temp.claim(50) from generate_series(1, 3)) as c), 8::bigint,
  'several jobs of an account run without a queue name');
select results_eq($$ select account, count(*), bool_and(id in (select j.id from graphile_worker._private_jobs as j where j.payload ->> 'account' = account order by j.id limit 4))
                       from pg_temp.claimed() group by account order by account $$,
                  $$ values ('7', 4::bigint, true), ('8', 4::bigint, true) $$,
                  'the first four jobs of each account run');

delete from graphile_worker._private_jobs;
select graphile_worker._gw_sweep_limits();

-- Many queues whose first jobs a full lane holds back hide no other queue.
select graphile_worker.set_limit('imports', tasks => '{import}', by => 'payload:account', max_running => 1);
select graphile_worker.add_job('import', '{"account": 7}', run_at => '2020-01-01');
select from pg_temp.claim(1);
select graphile_worker.add_job('import', '{"account": 7}', queue_name => 'busy ' || n, run_at => '2020-01-02') from generate_series(1, 150) as n;
select graphile_worker.add_job('other', queue_name => 'free', run_at => '2020-01-03');
select is((select array_agg(queue) from pg_temp.claim(1)), '{free}'::text[],
  'a claim finds a queue behind many that a full lane holds back');

select * from finish();
rollback;
