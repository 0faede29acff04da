-- Recovered jobs give their places at gates back: at once, or, if their limit is strict, after its time. Their queues go to the pauses
-- that wait for them.
begin;
select plan(6);
set local search_path = graphile_worker, public;
\ir ../keeper.psql

-- How many jobs count at the gates of a limit now, and in two hours.
create function pg_temp.counted(of_limit text) returns table (now bigint, later bigint) language sql as $$
  select sum(g.running) - (select coalesce(sum(e.jobs), 0) from _gw_gate_ends as e where e.limit_id = l.id and e.at <= now()),
         sum(g.running) - (select coalesce(sum(e.jobs), 0) from _gw_gate_ends as e where e.limit_id = l.id and e.at <= now() + interval '2 hours')
    from _gw_limits as l join _gw_gates as g on g.limit_id = l.id
   where l.name = of_limit
   group by l.id
$$;

select register_worker('dies');
select set_limit('strict', tasks => '{export}', max_running => 9, strict => '1 hour');
select set_limit('other', tasks => '{mail}', max_running => 9);
select add_job('export', job_key => 'export'), add_job('mail', job_key => 'mail'), add_job('mail', job_key => 'last', max_attempts => 1),
       add_job('mail', job_key => 'queued', queue_name => 'q'), add_job('mail', job_key => 'behind', queue_name => 'q');
select is((select count(*) from get_job_batch('dies', batch_size => 9)), 4::bigint, 'the worker runs four jobs');
select pause(queue => 'q');
select pg_temp.kill('dies');
select * from pg_temp.beat() as b (died text[], freed bigint);
select results_eq($$ select j.key, j.job_queue_id, _gw_queue_name(j.job_queue_id, j.id) from _private_jobs as j
                      where j.key <> 'behind' order by j.key $$,
                  $$ values ('export', -2, null), ('last', -1, null), ('mail', -2, null), ('queued', -2, 'q') $$,
                  'the freed jobs are held, except the one that had its last attempt');
select results_eq($$ select * from pg_temp.counted('strict') $$, $$ values (1::bigint, 0::bigint) $$,
  'a strict limit counts its recovered job for its time');
select results_eq($$ select * from pg_temp.counted('other') $$, $$ values (0::bigint, 0::bigint) $$,
  'a limit that is not strict does not count its recovered jobs');
select is_empty($$ select lane_id from _gw_queued_lanes $$, 'a recovered job in a queue has no lane any more');
select is((select locked_by from _private_job_queues where queue_name = 'q'), 'pause',
  'the queue of a recovered job goes to the pause');

select * from finish();
rollback;
