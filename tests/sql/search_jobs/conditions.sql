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

select is(pg_temp.ids(''), '{5,4,3,2,1}', 'all jobs, highest first');
select is(pg_temp.ids($$job_state => 'failed'$$), '{3,1}', 'failed jobs');
select is(pg_temp.ids($$job_state => 'running'$$), '{2}', 'running jobs');
select is(pg_temp.ids($$job_state => 'ready'$$), '{5}', 'ready jobs');
select is(pg_temp.ids($$job_state => 'scheduled'$$, $$queue => 'q'$$), '{4}', 'the scheduled jobs of a queue');
select is(pg_temp.ids($$job_state => 'ready'$$, $$queue => 'q'$$), '{5}', 'the ready jobs of a queue');
select is(pg_temp.ids($$queue => 'q'$$), '{5,4}', 'all jobs of a queue');
select is(pg_temp.ids($$task => 'sync'$$), '{4}', 'the jobs of a task');
select is(pg_temp.ids($$job_key => 'k'$$), '{4}', 'the job with a key');
select is(pg_temp.ids($$job_key => 'k'$$, $$task => 'mail'$$), '{}', 'no job where one condition does not match');
select is(pg_temp.ids($$error_prefix => 'HTTP 500'$$), '{3,1}', 'the jobs whose error begins so');
select is(pg_temp.ids($$task => 'none'$$), '{}', 'no job of a task that there is not');
select is(pg_temp.ids($$newer_than => '1 day'$$, $$older_than => '1 hour'$$), '{}', 'no job of another age');
select results_eq($$ select s.job_ids, s.next_id from search_jobs(max_rows => 2) as s $$,
                  $$ values ('{5,4}'::bigint[], 4::bigint) $$, 'max_rows jobs, and where it continues');
select results_eq($$ select s.job_ids, s.next_id from search_jobs(below_id => 4, max_rows => 9) as s $$,
                  $$ values ('{3,2,1}'::bigint[], null::bigint) $$, 'the rest, and that it is the rest');
select results_eq($$ select s.job_ids, s.next_id from search_jobs(task => 'none_so_far') as s $$,
                  $$ values ('{}'::bigint[], null::bigint) $$, 'nothing, and no more');
update _private_jobs set job_queue_id = -2 where id = 5;
insert into _gw_suspects (job_id, queue_name) values (5, 'q');
select is(pg_temp.ids($$queue => 'q'$$), '{5,4}', 'a held job is found by its queue');
select is(pg_temp.ids($$job_state => 'ready'$$, $$queue => 'q'$$), '{5}', 'and by its state, too');
select results_eq($$ select matching_job_ids(queue => 'q') $$, $$ values (4::bigint), (5) $$, 'in any order');
select results_eq($$ select queue_name from show_jobs('{5}') $$, $$ values ('q') $$, 'and shown with it');

select throws_ok($$ select from search_jobs('waiting') $$, 'GWIST', null, 'a state that is none');

insert into _private_jobs (id, task_id, payload, key) overriding system value
  select n, (select min(id) from _private_tasks), p::json, 'order:' || n
    from (values (101, '{"a":{"b":"x"},"n":7}'), (102, '{"a":"\u0000"}'), (103, '[1]'), (104, '{"a":{"b":null}}')) as p (n, p);
select is(pg_temp.ids($$key_prefix => 'order:10'$$), '{104,103,102,101}', 'the jobs whose key begins so');
select is(pg_temp.ids($$key_prefix => 'order:%'$$), '{}', 'a prefix is no pattern');
select is(pg_temp.ids($$error_part => 'http 5'$$), '{3,1}', 'the jobs whose error has a part, in any case of letters');
select is(pg_temp.ids($$error_part => 'HTTP_'$$), '{}', 'a part is no pattern');
select is(pg_temp.ids($$worker => 'w'$$), '{2}', 'the jobs that a worker holds');
select is(pg_temp.ids($$payload_path => 'a.b'$$, $$payload_value => 'x'$$), '{101}', 'the jobs with a value in a field of the payload');
select is(pg_temp.ids($$payload_path => 'n'$$, $$payload_value => '7'$$), '{101}', 'which may be a number');
select is(pg_temp.ids($$payload_path => 'a'$$, $$payload_value => ''$$), '{}', 'an escape that stands for no text is no value');

select * from finish();
rollback;
