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
select is_empty($$ select * from doctor() $$, '80 % are well; jobs have more ids than queues');

select add_job('task', queue_name => 'next');
select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('warning', 'ending identity', 'sequence job_queues_id_seq',
             '80.0 % of the ids of _private_job_queues are used (1717986918 of 2147483647). After the last one, every '
             'call that needs a new id fails.') $$,
  'one more is worth a warning');

alter sequence job_queues_id_seq restart with 2040109466;
select add_job('task', queue_name => 'last');
select is((select severity from doctor()), 'critical', 'above 95 % it is urgent');

-- An adopted schema may have a sequence whose maximum exceeds that of its column.
alter sequence job_queues_id_seq as bigint;
select is((select severity from doctor()), 'critical', 'whatever the sequence could hold');

select pg_temp.apply_remedies('ending identity');
select is_empty($$ select * from doctor() $$, 'the remedy begins anew');
select add_job('task', queue_name => 'first');
select is((select min(id) from _private_job_queues), 1, 'with the first id');
select is_empty($$ select * from doctor() $$, 'and the identities continue');

-- The ids of lanes begin again by themselves.
select setval('_gw_lane_ids', -2147483000);
select is_empty($$ select * from doctor() $$, 'ids that begin again do not end');

select * from finish();
rollback;
