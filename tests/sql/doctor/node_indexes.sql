-- A Node worker in a queue without the indexes that it needs is reported, and so are keys that no index makes unique.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task');
select get_job('pool-0123456789abcdef01');
select is_empty($$ select * from doctor() $$, 'a Node worker in a queue with its indexes is not reported');

update _private_jobs set locked_by = 'gw', locked_at = now();
select _gw_tune(false);
select is_empty($$ select * from doctor() $$, 'the indexes of a queue without Node workers are not reported');

update _private_jobs set locked_by = 'pool-0123456789abcdef01';
select results_eq($$ select severity, finding, subject, remedy from doctor() $$,
                  $$ values ('warning', 'node worker', 'pool-0123456789abcdef01',
                             'Create them with: gw-migrate tune --with-node; or stop the worker.') $$,
                  'a Node worker in it is');
select alike((select detail from doctor()), 'It holds jobs or queues, the latest since %, but the queue lacks indexes that Node workers need%',
             'with what it holds, and what it lacks');
select _gw_tune(true);
select is_empty($$ select * from doctor() $$, 'the remedy ends it');

alter table _private_jobs drop constraint jobs_key_key1;
update _private_jobs set locked_by = 'gw';
select results_eq($$ select severity, finding, subject from doctor() $$,
                  $$ values ('critical', 'missing index', 'table graphile_worker._private_jobs') $$,
                  'keys that no index makes unique are reported');
select _gw_tune(false);
select is_empty($$ select * from doctor() $$, 'either remedy ends it');

select * from finish();
rollback;
