-- Jobs run in the order of priority, run_at and id, with and without a queue.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select add_job('task', '3', priority => 0, run_at => now() - interval '1 hour'),
       add_job('task', '4', 'b', priority => 0, run_at => now() - interval '1 hour'),
       add_job('task', '5', priority => 0, run_at => now() - interval '1 minute'),
       add_job('task', '6', 'c', priority => 7, run_at => now() - interval '1 day'),
       add_job('task', '1', 'd', priority => -3, run_at => now()),
       add_job('task', '2', 'e', priority => 0, run_at => now() - interval '2 hours'),
       add_job('task', '7', priority => 7, run_at => now() - interval '23 hours');

create function pg_temp.claimed()
  returns setof text
  language plpgsql
as $$
begin
  for n in 1..8 loop
    return query select g.payload::text from get_job('worker') as g;
  end loop;
end;
$$;

select results_eq(
  $$ select * from pg_temp.claimed() $$,
  array['1', '2', '3', '4', '5', '6', '7'],
  'jobs are claimed one by one in the order of priority, run_at and id');

select * from finish();
rollback;
