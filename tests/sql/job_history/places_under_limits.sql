-- The place of a job in its history names its queue and, while it ran, its lanes of all limits; jobs of a statement that differ in them
-- are not recorded together.
begin;
select plan(5);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
create function pg_temp.place(job_id bigint) returns text language sql as $$ select h.place from job_history(job_id) as h order by h.ended_at desc limit 1 $$;

select keep_task('task', '1 day');
select set_limit('tenants', '{task}', by => 'payload:tenant', max_running => 9, total_running => 20);
select add_job('task', '{"tenant": 7}'), add_job('task', '{}'), add_job('task', '{"tenant": 7}', 'q'), add_job('task', '{"tenant": 8}', 'r'),
       add_job('task', '{"tenant": 7}'), add_job('task', '{"tenant": 9}', 'q');
select count(*) from get_job_batch('w', batch_size => 9);
select fail_job('w', 5, 'failed');
select is(pg_temp.place(5), 'tenants:7, tenants', 'a failed attempt has the lanes in which it ran');
select count(*) from complete_job_batch('w', '{1,2,3,4}');
select is(pg_temp.place(1), 'tenants:7, tenants', 'a completed job has the lanes in which it ran');
select is(pg_temp.place(2), null, 'a job without a key of the limit has no place');
select results_eq('select pg_temp.place(3), pg_temp.place(4)', $$ values ('q, tenants:7, tenants', 'r, tenants:8, tenants') $$,
                  'a job in a queue has its queue and its lanes');
insert into _gw_suspects (job_id, queue_name) values (6, 'q');
update _private_jobs set job_queue_id = -2 where id = 6;
delete from _private_jobs where id = 6;
select is(pg_temp.place(6), 'q', 'a held job has its queue');

select * from finish();
rollback;
