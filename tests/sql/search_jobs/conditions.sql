-- search_jobs() finds the jobs that match all conditions, highest id first, and returns where the search continues.
begin;
select plan(29);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('mail', run_at => now() - interval '1 minute') from generate_series(1, 3);
select add_job('sync', run_at => now() + interval '1 hour', queue_name => 'q', job_key => 'k');
select add_job('mail', run_at => now() - interval '1 minute', queue_name => 'q');
select permanently_fail_jobs(array[1, 3], 'HTTP 500 at 10:00');
update _private_jobs set locked_at = now(), locked_by = 'w', attempts = 1 where id = 2;

create function pg_temp.ids(variadic conditions text[]) returns bigint[] language plpgsql as $$
declare found bigint[];
begin
  execute 'select s.job_ids from graphile_worker.search_jobs(' || array_to_string(conditions, ', ') || ') as s' into found;
  return found;
end $$;

select is(pg_temp.ids(''), '{5,4,3,2,1}', 'all jobs are found, the highest id first');
select is(pg_temp.ids($$job_state => 'failed'$$), '{3,1}', 'failed jobs are found');
select is(pg_temp.ids($$job_state => 'running'$$), '{2}', 'running jobs are found');
select is(pg_temp.ids($$job_state => 'ready'$$), '{5}', 'ready jobs are found');
select is(pg_temp.ids($$job_state => 'scheduled'$$, $$queue => 'q'$$), '{4}',
  'the scheduled jobs of a queue are found');
select is(pg_temp.ids($$job_state => 'ready'$$, $$queue => 'q'$$), '{5}', 'the ready jobs of a queue are found');
select is(pg_temp.ids($$queue => 'q'$$), '{5,4}', 'all jobs of a queue are found');
select is(pg_temp.ids($$task => 'sync'$$), '{4}', 'the jobs of a task are found');
select is(pg_temp.ids($$job_key => 'k'$$), '{4}', 'the job with a key is found');
select is(pg_temp.ids($$job_key => 'k'$$, $$task => 'mail'$$), '{}',
  'no job is found where one condition does not match');
select is(pg_temp.ids($$error_prefix => 'HTTP 500'$$), '{3,1}', 'the jobs whose error begins with a prefix are found');
select is(pg_temp.ids($$task => 'none'$$), '{}', 'no job of an unknown task is found');
select is(pg_temp.ids($$newer_than => '1 day'$$, $$older_than => '1 hour'$$), '{}',
  'no job is found outside of the given ages');
select results_eq($$ select s.job_ids, s.next_id from search_jobs(max_rows => 2) as s $$,
                  $$ values ('{5,4}'::bigint[], 4::bigint) $$,
                  'max_rows jobs are found, and the search returns where it continues');
select results_eq($$ select s.job_ids, s.next_id from search_jobs(below_id => 4, max_rows => 9) as s $$,
                  $$ values ('{3,2,1}'::bigint[], null::bigint) $$,
                  'the last call returns the rest, and that the search has ended');
select results_eq($$ select s.job_ids, s.next_id from search_jobs(task => 'none_so_far') as s $$,
                  $$ values ('{}'::bigint[], null::bigint) $$, 'a search for an unknown task has ended');
update _private_jobs set job_queue_id = -2 where id = 5;
insert into _gw_suspects (job_id, queue_name) values (5, 'q');
select is(pg_temp.ids($$queue => 'q'$$), '{5,4}', 'a held job is found by its queue');
select is(pg_temp.ids($$job_state => 'ready'$$, $$queue => 'q'$$), '{5}',
  'a held job is found by its queue and its state');
select results_eq($$ select matching_job_ids(queue => 'q') $$, $$ values (4::bigint), (5) $$,
  'matching_job_ids() finds a held job by its queue');
select results_eq($$ select queue_name from show_jobs('{5}') $$, $$ values ('q') $$,
  'show_jobs() shows a held job with its queue');

select throws_ok($$ select from search_jobs('waiting') $$, 'GWIST', null, 'an unknown state is refused');

insert into _private_jobs (id, task_id, payload, key) overriding system value
  select n, (select min(id) from _private_tasks), p::json, 'order:' || n
    from (values (101, '{"a":{"b":"x"},"n":7}'), (102, '{"a":"\u0000"}'), (103, '[1]'), (104, '{"a":{"b":null}}')) as p (n, p);
select is(pg_temp.ids($$key_prefix => 'order:10'$$), '{104,103,102,101}',
  'the jobs whose key begins with a prefix are found');
select is(pg_temp.ids($$key_prefix => 'order:%'$$), '{}', 'a percent sign in a prefix of keys is not a wildcard');
select is(pg_temp.ids($$error_part => 'http 5'$$), '{3,1}',
  'the jobs whose error has a part are found, in any case of letters');
select is(pg_temp.ids($$error_part => 'HTTP_'$$), '{}', 'an underscore in a part of errors is not a wildcard');
select is(pg_temp.ids($$worker => 'w'$$), '{2}', 'the jobs that a worker holds are found');
select is(pg_temp.ids($$payload_path => 'a.b'$$, $$payload_value => 'x'$$), '{101}',
  'the jobs with a text in a field of the payload are found');
select is(pg_temp.ids($$payload_path => 'n'$$, $$payload_value => '7'$$), '{101}',
  'the jobs with a number in a field of the payload are found');
select is(pg_temp.ids($$payload_path => 'a'$$, $$payload_value => ''$$), '{}',
  'a field whose escape stands for no text has no value');

select * from finish();
rollback;
