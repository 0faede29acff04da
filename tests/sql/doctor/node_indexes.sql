-- A Node worker in a queue without the indexes that it needs is reported, and so are keys that no index makes unique.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task');
select get_job('pool-0123456789abcdef01');
select is_empty($$ select * from doctor() $$, 'a Node worker in a queue with its indexes is not reported');

update _private_jobs set locked_by = 'gw', locked_at = now();
create unique index _gw_jobs_key on _private_jobs (key) where key is not null;
alter table _private_jobs drop constraint jobs_key_key1;
select is_empty($$ select * from doctor() $$,
  'a unique index of the keys that are not null suffices for workers of gw');

update _private_jobs set locked_by = 'pool-0123456789abcdef01';
select results_eq($$ select severity, finding, subject, remedy from doctor() $$,
                  $$ values ('warning', 'node worker', 'pool-0123456789abcdef01',
                             'Create them as performance.md in the documentation shows, or stop the worker.') $$,
                  'a Node worker without the indexes that it needs is reported');
select alike((select detail from doctor()), 'It holds jobs or queues, the latest since %, but the queue lacks indexes that Node workers need%',
             'the finding says what the Node worker holds and which indexes are missing');
create unique index "Other" on _private_jobs (key);
select is_empty($$ select * from doctor() $$, 'an index of all keys ends the finding, whatever its name');
drop index jobs_main_index;
select results_eq('select finding from doctor()', $$ values ('node worker') $$,
  'a Node worker needs the index of the due jobs, too');

drop index _gw_jobs_key, "Other";
create index on _private_jobs (key);
create unique index on _private_jobs (key) where key <> 'a';
create unique index on _private_jobs (key, id);
update _private_jobs set locked_by = 'gw';
select results_eq($$ select severity, finding, subject from doctor() $$,
                  $$ values ('critical', 'missing index', 'table graphile_worker._private_jobs') $$,
                  'keys that no index makes unique are reported');
select is((select remedy from doctor()),
          'Create it with: alter table graphile_worker._private_jobs add constraint jobs_key_key1 unique (key);',
          'the remedy has the statement that creates the constraint');
alter table graphile_worker._private_jobs add constraint jobs_key_key1 unique (key);
select is_empty($$ select * from doctor() $$, 'the statement of the remedy ends the finding');

select * from finish();
rollback;
