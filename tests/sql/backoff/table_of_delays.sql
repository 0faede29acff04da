-- The delays that Graphile Worker documents: e^n seconds after the nth attempt, constant from the tenth on.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select n, backoff(n) from generate_series(1, 24) as n $$,
  $$ select n, (array['2.718282', '7.389056', '20.085537', '54.598150', '148.413159', '403.428793', '1096.633158',
                      '2980.957987', '8103.083928', '22026.465795'])[least(n, 10)]::interval
       from generate_series(1, 24) as n $$,
  'the delay after each of 24 attempts is the documented one');
select is((select sum(backoff(n)) from generate_series(1, 24) as n), '95:20:14.294975'::interval,
  'the sum of the delays after 24 attempts is the documented one');
select is(backoff(32767), backoff(10), 'the delay grows no further after the tenth attempt');

select * from finish();
rollback;
