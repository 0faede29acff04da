-- Findings that forbid sequential scans are not compiled: a scan of a table without an index, however small, then has so high a cost
-- that a server with its defaults would compile the query each time, which takes longer than to run it.
begin;
select plan(1);

select is_empty(
  $$ select p.proname
       from pg_proc as p
      where p.pronamespace = 'graphile_worker'::regnamespace and p.proname like '\_gw\_find\_%'
        and 'enable_seqscan=off' = any (p.proconfig) and 'jit=off' <> all (p.proconfig) $$,
  'each finding function that forbids sequential scans sets jit off');

select * from finish();
rollback;
