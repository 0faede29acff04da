-- Steps and progress of deleted jobs are deleted, by the sweep and by later calls. Those of other jobs stay.
begin;
select plan(6);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

select add_job('task') from generate_series(1, 4);
create temp table claimed as select * from get_job_batch('w', batch_size => 4);
select save_step('w', c.id, c.lease, n::text), set_progress('w', c.id, c.lease, 10 * n) from claimed as c, generate_series(1, 3) as n;
select return_job('w', 4);
select permanently_fail_jobs('{4}');
select complete_job('w', 1), complete_job('w', 2);
select tidy();
select results_eq($$ select job_id, count(*) from _gw_steps group by 1 order by 1 $$, $$ values (3::bigint, 3::bigint), (4, 3) $$,
                  'the sweep deletes the steps of deleted jobs; a failed job keeps them');
select set_eq($$ select job_id from _gw_progress $$, '{3,4}'::bigint[],
  'the sweep deletes the progress of deleted jobs');

select complete_jobs('{4}');
select cleanup('{}');
select set_eq($$ select job_id from _gw_steps $$, '{3}'::bigint[], 'cleanup() deletes the steps of deleted jobs');

-- A call reads few rows and continues where the last one ended.
select add_job('task') from generate_series(1, 300);
select save_step('w', c.id, c.lease, 'a') from get_job_batch('w', batch_size => 300) as c;
delete from _private_jobs where id > 200;
select setval('_gw_step_cursor', 0);
select is(_gw_drop_spent_rows('_gw_steps', 100), 0::bigint,
  'a call that reads a hundred rows finds no step of a deleted job');
select cmp_ok(_gw_drop_spent_rows('_gw_steps', 200), '>=', 98::bigint,
  'the next call begins where the first has ended');

-- Later steps delete those of earlier jobs.
do $$
begin
  for n in 1..2000 loop
    perform save_step('w', added.id, null, s::text)
       from (select (add_job('task')).id) as added, generate_series(1, 2) as s
      where (select count(*) from get_job('w')) = 1;
    perform complete_job('w', j.id) from _private_jobs as j where j.id > 304 and j.locked_by = 'w';
  end loop;
end
$$;
select cmp_ok((select count(*) from _gw_steps), '<', 2000::bigint,
  'later steps delete most of four thousand steps of completed jobs');

select * from finish();
rollback;
