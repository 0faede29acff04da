-- A batch fails each job with its own arguments, and returns the results of the jobs that the worker still held.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', '[1, 2]', job_key => k)
  from unnest(array['1 plain', '2 at', '3 in', '4 payload', '5 permanent', '6 lost', '7 no lease', '8 kept']) as k;
create temp table claimed as select * from get_job_batch('worker', batch_size => 9);
create temp table failures (key text, said jsonb);
insert into failures (key, said)
values ('1 plain',     jsonb_build_object('message', 'no luck')),
       ('2 at',        jsonb_build_object('message', 'wait', 'retry_at', now() + interval '5 minutes')),
       ('3 in',        jsonb_build_object('message', 'wait', 'retry_in', 1.5)),
       ('4 payload',   jsonb_build_object('message', 'half', 'payload', jsonb_build_array(2))),
       ('5 permanent', jsonb_build_object('message', 'hopeless', 'permanent', true)),
       ('6 lost',      jsonb_build_object('message', 'late', 'lease', 1)),
       ('7 no lease',  jsonb_build_object('lease', null, 'retry_at', null, 'retry_in', null, 'permanent', null));

select results_eq(
  $$ select c.key, d.state, d.run_at, d.attempts, d.max_attempts
       from fail_job_batch('worker', (select json_agg(jsonb_build_object('id', c.id, 'lease', c.lease) || f.said)
                                        from failures as f
                                        join claimed as c using (key))) as d
       join claimed as c using (id)
      order by c.key $$,
  $$ values ('1 plain',     'scheduled', now() + interval '2.718282 s', 1::smallint,  25::smallint),
            ('2 at',        'scheduled', now() + interval '5 minutes',  1::smallint,  25::smallint),
            ('3 in',        'scheduled', now() + interval '1.5 s',      1::smallint,  25::smallint),
            ('4 payload',   'scheduled', now() + interval '2.718282 s', 1::smallint,  25::smallint),
            ('5 permanent', 'failed',    now() + interval '2.718282 s', 25::smallint, 25::smallint),
            ('7 no lease',  'scheduled', now() + interval '2.718282 s', 1::smallint,  25::smallint) $$,
  'fail_job_batch() returns all jobs except the one whose lease is lost');
select results_eq(
  $$ select key, attempts, last_error, run_at, payload::jsonb, locked_by from _private_jobs order by key $$,
  $$ values ('1 plain',     1::smallint,  'no luck',  now() + interval '2.718282 s', '[1, 2]'::jsonb, null),
            ('2 at',        1::smallint,  'wait',     now() + interval '5 minutes',  '[1, 2]', null),
            ('3 in',        1::smallint,  'wait',     now() + interval '1.5 s',      '[1, 2]', null),
            ('4 payload',   1::smallint,  'half',     now() + interval '2.718282 s', '[2]',    null),
            ('5 permanent', 25::smallint, 'hopeless', now() + interval '2.718282 s', '[1, 2]', null),
            ('6 lost',      1::smallint,  null,       now(),                         '[1, 2]', 'worker'),
            ('7 no lease',  1::smallint,  'The worker gave no reason.', now() + interval '2.718282 s', '[1, 2]', null),
            ('8 kept',      1::smallint,  null,       now(),                         '[1, 2]', 'worker') $$,
  'each job fails with its own arguments');
select is_empty($$ select fail_job_batch('worker', '[]') $$, 'an empty batch does nothing');

select * from finish();
rollback;
