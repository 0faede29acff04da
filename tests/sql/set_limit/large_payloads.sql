-- A claim that moves jobs whose payloads are large moves a few of them, so that it does not take long.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('a', ('{"k":1,"x":"' || repeat('x', 1000000) || '"}')::json) from generate_series(1, 20);
select set_limit('l', '{a}', by => 'payload:k', max_running => 1);
select _gw_move_jobs(); -- records the producers
select _gw_move_jobs();
select cmp_ok((select count(*) from _private_jobs where job_queue_id < 0), '<', 20::bigint, 'not all jobs are moved at once');
-- A call that has waited for a lock, such as autovacuum's, puts the move off for half a second.
do $$
begin
  for n in 1..20 loop
    update _gw_moves set next_at = '-infinity';
    perform _gw_move_jobs();
  end loop;
end;
$$;
select is((select count(*) from _private_jobs where job_queue_id < 0), 20::bigint, 'further calls move the others');

select * from finish();
rollback;
