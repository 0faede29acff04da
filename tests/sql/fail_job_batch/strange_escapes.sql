-- Escapes that text cannot hold, in the message or the payload of one failure, do not prevent the rest of the batch.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k) from unnest(array['1', '2', '3', '4', '5', '6']) as k;
select from get_job_batch('worker', batch_size => 9);
create temp table failures (key text, said text);
insert into failures (key, said)
values ('1', '"message": "plain"'),
       ('2', '"message": "a\u0000b\ud800c\uDFFFd\udc00\ud83de"'),
       ('3', '"message": "\ud83d\ude00 \\u0000 \\\ud800 \\\\ud800\u00e9\ud800\\udc00"'),
       ('4', '"message": "half", "payload": ["\u0000", "\ud800", "\\u0000", "\ud83d\ude00",  1.0]'),
       ('5', '"message": "", "payload": {"\udc00": "\u0000"}'),
       ('6', '"message": null');

select is(
  (select count(*)
     from fail_job_batch('worker', (select ('[' || string_agg(format('{"id": %s, %s}', j.id, f.said), ', ' order by f.key) || ']')::json
                                      from failures as f join jobs as j using (key)))),
  6::bigint, 'all failures of the batch are accepted');
select results_eq(
  $$ select j.key, j.last_error from jobs as j where j.locked_at is null order by j.key $$,
  $$ values ('1', 'plain'), ('2', U&'a\FFFDb\FFFDc\FFFDd\FFFD\FFFDe'),
            ('3', U&'\+01F600 \\u0000 \\\FFFD \\\\ud800\00E9\FFFD\\udc00'), ('4', 'half'), ('5', ''), ('6', 'The worker gave no reason.') $$,
  'the readable parts of the messages are kept');
select results_eq(
  $$ select j.key, p.payload::text from jobs as j join _private_jobs as p using (id) where p.payload::text <> '{}' order by j.key $$,
  $$ values ('4', '["\u0000", "\ud800", "\\u0000", "\ud83d\ude00",  1.0]'), ('5', '{"\udc00": "\u0000"}') $$,
  'the payloads are stored as they were given');

select * from finish();
rollback;
