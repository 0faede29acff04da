-- Whatever ends an attempt of a job with limits tells each of its gates, once for all jobs of a call, and the job that stays is
-- incoming again. The jobs of named queues keep their queue, which is free then. A job is told to no gate twice.
begin;
select plan(34);
set local search_path = graphile_worker, public;

-- Two limits: gate 1 is that of a key, gate 2 that of all keys of the same limit, gate 3 of another limit, which is strict. Lane -16
-- has gates 1, 2 and 3, lane -17 gate 3.
insert into _gw_limit_changes default values;
insert into _gw_limits (id, name, tasks, generation, strict) overriding system value
values (1, 'by key', '{task}', 1, null), (2, 'strict', '{task}', 1, '10 minutes');
insert into _gw_gates (id, limit_id, key, is_total, running) overriding system value
values (1, 1, 'key', false, 9), (2, 1, null, true, 9), (3, 2, null, false, 9);
insert into _gw_lanes (id, task_id, generation, gates, gate) values (-16, 1, 1, '{1,2,3}', 0), (-17, 1, 1, '{3}', 0);

-- Adds four jobs, of which two run in lane -16, one in lane -17 and one in the queue q with lane -16. The lock of each is
-- old enough for resets.
create function pg_temp.run()
  returns void
  language plpgsql
as $$
begin
  delete from _private_jobs;
  delete from _gw_gate_ends;
  delete from _gw_queued_lanes;
  perform add_job('task', queue_name => case when n = 4 then 'q' end) from generate_series(1, 4) as n;
  update _private_jobs as j
     set job_queue_id = case o.n when 1 then -16 when 2 then -16 when 3 then -17 else j.job_queue_id end,
         locked_at = now() - interval '5 hours', locked_by = 'worker', attempts = 1
    from (select id, row_number() over (order by id) as n from _private_jobs) as o
   where o.id = j.id;
  update _private_job_queues set locked_at = now() - interval '5 hours', locked_by = 'worker';
  insert into _gw_queued_lanes (job_id, lane_id) select max(id), -16 from _private_jobs;
end;
$$;

create function pg_temp.told()
  returns text
  language sql
as $$
  select string_agg(format('%s/%s:%s%s%s%s', limit_id, gate_id, jobs, case when returned > 0 then ' returned ' || returned end,
                           case when at > clock_timestamp() + interval '9 minutes' then ' later'
                                when at > '-infinity' then ' at a wrong time' end,
                           case when closed_until > clock_timestamp() + interval '59 minutes' then ' closed'
                                when closed_until is not null then ' closed for a wrong time' end), ', ' order by gate_id, jobs desc)
    from _gw_gate_ends
$$;

create function pg_temp.left_over()
  returns text
  language sql
as $$
  select concat_ws(' ', (select string_agg(least(job_queue_id, 1)::text, ',' order by id) from _private_jobs),
                   (select 'lanes of ' || count(*) from _gw_queued_lanes having count(*) > 0),
                   (select 'the queue is locked' from _private_job_queues where locked_at is not null))
$$;

-- Checks what a call has told and left. ids, leases: of all jobs.
create function pg_temp.ends(what text, call text, told text, left_over text)
  returns setof text
  language plpgsql
as $$
begin
  perform pg_temp.run();
  execute format('select * from (select array_agg(id order by id) as ids, array_agg(_gw_lease(locked_at) order by id) as leases
                                   from _private_jobs) as j cross join lateral (%s) as c', call);
  return next is(pg_temp.told(), told, what || ' tells the gates');
  return next is(pg_temp.left_over(), left_over, what || ' leaves the jobs');
end;
$$;

select pg_temp.ends('complete_job', 'select complete_job(''worker'', ids[1], leases[1])', '1/1:1, 1/2:1, 2/3:1',
                    '-16,-17,1 lanes of 1 the queue is locked');
select pg_temp.ends('complete_job of a queued job', 'select complete_job(''worker'', ids[4])', '1/1:1, 1/2:1, 2/3:1', '-16,-16,-17');
select pg_temp.ends('complete_job_batch', 'select complete_job_batch(''worker'', ids, leases)', '1/1:3, 1/2:3, 2/3:4', '');
select pg_temp.ends('complete_job_batch without leases', 'select complete_job_batch(''worker'', ids)', '1/1:3, 1/2:3, 2/3:4', '');
select pg_temp.ends('complete_job_batch of some', 'select complete_job_batch(''worker'', ids, array[leases[1], 1, leases[3], leases[4]])',
                    '1/1:2, 1/2:2, 2/3:3', '-16');
select pg_temp.ends('_gw_complete_all', 'select _gw_complete_all(''worker'', ids, leases)', '1/1:3, 1/2:3, 2/3:4', '');
select pg_temp.ends('_gw_complete_claim', 'select _gw_complete_claim(''worker'', ids, leases[1])', '1/1:3, 1/2:3, 2/3:4', '');
select pg_temp.ends('fail_job', 'select fail_job(''worker'', ids[1], ''why'')', '1/1:1, 1/2:1, 2/3:1',
                    '-1,-16,-17,1 lanes of 1 the queue is locked');
select pg_temp.ends('fail_job for good', 'select fail_job(''worker'', ids[1], ''why'', permanent => true)', '1/1:1, 1/2:1, 2/3:1',
                    '-1,-16,-17,1 lanes of 1 the queue is locked');
select pg_temp.ends('fail_job_batch', 'select fail_job_batch(''worker'', (select json_agg(json_build_object(''id'', u)) from unnest(ids) as u))',
                    '1/1:3, 1/2:3, 2/3:4', '-1,-1,-1,1');
select pg_temp.ends('return_job_batch', 'select return_job_batch(''worker'', ids, leases)',
                    '1/1:3 returned 3, 1/2:3 returned 3, 2/3:4 returned 4', '-1,-1,-1,1');
select pg_temp.ends('rate_limited', 'select rate_limited(''worker'', ids[1], leases[1], ''1 hour'')',
                    '1/1:1 returned 1, 1/1:0 closed, 1/2:1 returned 1, 2/3:1 returned 1, 2/3:0 closed',
                    '-1,-16,-17,1 lanes of 1 the queue is locked');
select pg_temp.ends('rate_limited of a queued job', 'select rate_limited(''worker'', ids[4], null, ''1 hour'')',
                    '1/1:1 returned 1, 1/1:0 closed, 1/2:1 returned 1, 2/3:1 returned 1, 2/3:0 closed', '-16,-16,-17,1');
select pg_temp.ends('reset_stale_locks', 'select reset_stale_locks()', '1/1:3, 1/2:3, 2/3:4 later', '-1,-1,-1,1');
select pg_temp.ends('force_unlock_workers', 'select force_unlock_workers(''{worker}'')', '1/1:3, 1/2:3, 2/3:4', '-1,-1,-1,1');
select pg_temp.ends('complete_jobs of a lock of hours', 'select complete_jobs(ids[1:2])', '1/1:2, 1/2:2, 2/3:2', '-17,1 lanes of 1 the queue is locked');

-- Lanes and gates that are missing are not told.
delete from _gw_gates where id = 1;
delete from _gw_lanes where id = -17;
select pg_temp.ends('complete_job_batch', 'select complete_job_batch(''worker'', ids, leases)', '1/2:3, 2/3:3', '');

select * from finish();
rollback;
