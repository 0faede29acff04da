-- A registered worker that was seen within dead_after keeps what it holds, whatever the expiry.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '30 minutes');
select register_worker(w) from unnest(array['live', 'silent', 'claimed']) as w;
select add_job('task', queue_name => w, job_key => w) from unnest(array['live', 'silent', 'claimed']) as w;
select get_job_batch('worker', batch_size => 3);
update _private_jobs as j set locked_by = j.key, locked_at = now() - interval '5 hours';
update _private_job_queues as q set locked_by = q.queue_name, locked_at = now() - interval '5 hours';
update _private_jobs as j set locked_at = now() - interval '29 minutes' where j.key = 'claimed';
update _private_job_queues as q set locked_at = now() - interval '29 minutes' where q.queue_name = 'claimed';
update _gw_workers set last_seen_at = now() - interval '29 minutes' where id = 'live';
update _gw_workers set last_seen_at = now() - interval '31 minutes' where id <> 'live';

select results_eq($$ select key from get_job('other', job_expiry => '1 second') $$, $$ values ('silent') $$,
                  'get_job takes the job of a silent worker only');
select is_empty($$ select queue_name from _private_job_queues where is_available $$,
  'get_job has locked the queue of the silent worker''s job');
update _gw_turns set last_at = '-infinity';
select is(stale_sweep('1 second'), 0::bigint,
  'the sweep frees no job of a worker that was seen or has claimed within dead_after');
select is(reset_stale_locks('1 second'), 0::bigint,
  'reset_stale_locks() frees no job of a worker that was seen or has claimed within dead_after');
select set_setting('dead_after', '20 minutes');
select is(reset_stale_locks('1 second'), 2::bigint,
  'reset_stale_locks() frees the jobs of silent workers when dead_after is shorter');
select set_eq($$ select queue_name from _private_job_queues where is_available $$, array['live', 'claimed'],
  'the queues of the freed jobs are free');

select * from finish();
rollback;
