-- Locks older than the expiry are freed; workers that are not registered keep four hours whatever the expiry.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => k, job_key => k)
  from unnest(array['ours, old', 'ours, new', 'foreign, old', 'foreign, very old']) as k;
select register_worker('ours');
update _gw_workers set last_seen_at = now() - interval '31 seconds';
select get_job_batch('worker', batch_size => 9);
create temp table held (queue_name text, locked_by text, locked_at timestamptz);
insert into held
values ('ours, old',         'ours', now() - interval '10 minutes 1 second'),
       ('ours, new',         'ours', now() - interval '10 minutes'),
       ('foreign, old',      'pool', now() - interval '4 hours'),
       ('foreign, very old', 'pool', now() - interval '4 hours 1 second');
update _private_jobs as j set locked_by = h.locked_by, locked_at = h.locked_at from held as h
 where h.queue_name = j.key;
update _private_job_queues as q set locked_by = h.locked_by, locked_at = h.locked_at from held as h
 where h.queue_name = q.queue_name;

select is(reset_stale_locks('10 minutes'), 2::bigint, 'reset_stale_locks() returns the number of freed jobs');
select set_eq($$ select key from _private_jobs where locked_at is null and locked_by is null $$,
              array['ours, old', 'foreign, very old'], 'the jobs that were locked for longer than the expiry are free');
select set_eq($$ select queue_name from _private_job_queues where is_available $$,
              array['ours, old', 'foreign, very old'], 'the queues of the freed jobs are free');
select is(reset_stale_locks('10 minutes'), 0::bigint, 'a second call frees no job');
select results_eq($$ select key, attempts from get_job_batch('next', batch_size => 9) $$,
                  $$ values ('ours, old', 2::smallint), ('foreign, very old', 2::smallint) $$,
                  'the freed jobs can be claimed at once; the lost attempt counts');
select is((select reset_stale_locks()), 0::bigint, 'the default of the expiry is four hours');

select * from finish();
rollback;
