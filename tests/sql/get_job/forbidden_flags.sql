-- A worker does not get jobs with one of its forbidden flags, with and without a queue.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', '1', flags => '{a}'), add_job('task', '2', 'queue', flags => '{a,b}'),
       add_job('task', '3', flags => '{b}'), add_job('task', '4', 'queue', flags => '{c}'),
       add_job('task', '5');

select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 9, forbidden_flags => '{a,x}') $$,
  array['3', '4', '5'],
  'jobs without flags and jobs with other flags only are claimed');
select is_empty($$ select id from get_job('worker', forbidden_flags => '{a}') $$,
  'no job with a forbidden flag is claimed');
select is((select payload::text from get_job('worker', forbidden_flags => '{}')), '1',
  'an empty array of forbidden flags forbids nothing');

select * from finish();
rollback;
