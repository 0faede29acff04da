-- The table migrations, which Node workers read, contains Graphile Worker's revisions 1 to 20 with their flags, and no
-- rows of ours: with a row above 20 Node would warn or refuse to start.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select id from migrations order by id $$,
  $$ select n from generate_series(1, 20) as n $$,
  'the revisions are 1 to 20');
select results_eq(
  $$ select id from migrations where breaking order by id $$,
  $$ values (1), (3), (11), (13), (14), (16), (19) $$,
  'the breaking revisions are marked');

select * from finish();
rollback;
