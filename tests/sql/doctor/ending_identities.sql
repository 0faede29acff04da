-- Identities of which 80 % are used are reported; the remedy restarts them.
begin;
select plan(8);
set local search_path = graphile_worker, public;

create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

alter sequence job_queues_id_seq restart with 1717986917;
alter sequence jobs_id_seq1 restart with 1717986919;
select add_job('task', queue_name => 'queue');
select is_empty($$ select * from doctor() $$, '80 % of the ids are not reported; jobs have more ids than queues');

select add_job('task', queue_name => 'next');
select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('warning', 'ending identity', 'sequence job_queues_id_seq',
             '80.0 % of the ids of _private_job_queues are used (1717986918 of 2147483647). After the last one, every '
             'call that needs a new id fails.') $$,
  'more than 80 % of the ids are a warning');

alter sequence job_queues_id_seq restart with 2040109466;
select add_job('task', queue_name => 'last');
select is((select severity from doctor()), 'critical', 'more than 95 % of the ids are critical');

-- An adopted schema may have a sequence whose maximum exceeds that of its column.
alter sequence job_queues_id_seq as bigint;
select is((select severity from doctor()), 'critical', 'the maximum of the column counts, not that of the sequence');

select pg_temp.apply_remedies('ending identity');
select is_empty($$ select * from doctor() $$, 'the remedy ends the finding');
select add_job('task', queue_name => 'first');
select is((select min(id) from _private_job_queues), 1, 'the sequence begins with the first id after the remedy');
select is_empty($$ select * from doctor() $$, 'doctor() reports nothing after the next id');

-- The ids of lanes begin again by themselves.
select setval('_gw_lane_ids', -2147483000);
select is_empty($$ select * from doctor() $$, 'ids of lanes are not reported, because they begin again');

select * from finish();
rollback;
