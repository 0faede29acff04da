-- A worker id that claims refuse, or a concurrency below one, is refused.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select throws_ok($$ select register_worker('') $$, 'GWWID', 'Worker id must be 1 to 128 characters long.');
select throws_ok($$ select register_worker(null) $$, 'GWWID');
select throws_ok($$ select register_worker(repeat('w', 129)) $$, 'GWWID');
select throws_ok($$ select register_worker('w', concurrency => 0) $$, 'GWWCO', 'Concurrency must be at least 1, not 0.');
select throws_ok($$ select register_worker('w', concurrency => null) $$, 'GWWCO', 'Concurrency must be at least 1, not null.');
select lives_ok($$ select register_worker(repeat('w', 128), concurrency => 1) $$,
  'the longest worker id and the least concurrency are accepted');

select * from finish();
rollback;
