-- A job that was claimed together with jobs of its queue that come first waits for them.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', to_json(p), 'q', priority => p) from unnest('{3,2,1}'::integer[]) as p;
create function pg_temp.id(p integer) returns bigint language sql as $$ select id from graphile_worker._private_jobs where priority = p $$;
select get_job_batch('worker', batch_size => 9, queue_batch => 9);
select results_eq($$ select reason from why(pg_temp.id(1)) $$, array['claimed'],
  'the first job of the queue is claimed');
select results_eq($$ select reason, detail, blocking_job_ids from why(pg_temp.id(3)) $$,
                  $$ values ('queue held', 'Worker worker has claimed it together with jobs of the queue q that come first.', array[pg_temp.id(1), pg_temp.id(2)]) $$,
                  'the last job of the queue waits for the two in front');
select complete_job_batch('worker', array[pg_temp.id(1), pg_temp.id(2)]);
select results_eq($$ select reason from why(pg_temp.id(3)) $$, array['claimed'],
  'the last job of the queue is claimed when the others have ended');

select * from finish();
rollback;
