-- Appended arrays remain as they were written, so that the result is no longer than both together: as jsonb, 1e131071
-- would have 131072 digits.
begin;
select plan(12);
set local search_path = graphile_worker, public;

create function merged(waiting text, added text)
  returns text
  language sql
as $$
  select add_job('task', waiting::json, job_key => waiting || added);
  select payload::text from add_job('task', added::json, job_key => waiting || added);
$$;
select is(merged('[1e131071]', '[-1e131071, 1E-16383]'), '[1e131071, -1e131071, 1E-16383]',
  'numbers in merged arrays keep their form');
select is(merged(E'\n [ 1 ]\t\r\n', E'\t[\n2]\n '), E'\n [ 1 , \n2]\n ',
  'white space is not an element of a merged array');
select is(merged('[[1]]', '[[2]]'), '[[1], [2]]', 'merging arrays does not change nested arrays');
select is(merged('["]"]', '["["]'), '["]", "["]', 'brackets in strings do not count');
select is(merged('["\u0000"]', '["\ud800"]'), '["\u0000", "\ud800"]', 'escapes that text cannot hold do not matter');
select is(merged('[{"b": 1, "a": 2, "a": 3}]', '[1]'), '[{"b": 1, "a": 2, "a": 3}, 1]', 'objects keep their members and their order');
select is(merged(E'[ \n]', '[1, 2]'), '[1, 2]', 'an empty array adds nothing in front of a merged array');
select is(merged('[1, 2] ', ' [ ]'), '[1, 2] ', 'an empty array adds nothing behind a merged array');
select is(merged('[]', '[]'), '[]', 'two empty arrays are merged to one empty array');
select is(merged('["\u00e9é"]', '["ß€😀"]'), '["\u00e9é", "ß€😀"]', 'characters of several bytes stay whole');

select set_setting('max_payload', '1048576');
select add_job('task', json_build_array(repeat('x', 1000000)), job_key => 'long', priority => 7);
select throws_ok(
  $$ select add_job('task', json_build_array(repeat('y', 50000)), job_key => 'long') $$,
  'GWBPL', 'The job under key ''long'' would have a payload of 1050008 bytes, at most 1048576 are allowed.',
  'an array that would become too large is refused');
select results_eq($$ select length(payload::text), priority, revision from _private_jobs where key = 'long' $$,
                  $$ values (1000004, 7::smallint, 0) $$, 'a refused merge leaves the waiting job unchanged');

select * from finish();
rollback;
