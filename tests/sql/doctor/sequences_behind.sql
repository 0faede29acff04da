-- After a cut-over by logical replication the sequences are behind the rows; each is reported, and its remedy sets it.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => 'queue', job_key => 'key');
select set_limit('limit', tasks => array['task'], max_running => 1);
select pause(task => 'paused');
insert into _gw_gates (limit_id, key) select l.id, 'one key' from _gw_limits as l;
insert into _gw_mends (mended) values (1);
insert into _gw_audit (act, jobs, role) values ('test', 0, 'test');
select add_job('task');
select * from get_job('worker');
select is_empty($$ select * from doctor() as d where d.finding = 'sequence behind' $$,
  'sequences that gave the ids are not reported');

-- Every sequence of ids, at the start.
create temporary table sequence_of_ids as
select q.oid::regclass as sequence, c.oid::regclass as of_table, a.attname as of_column
  from pg_class as q
  join pg_depend as d on d.classid = 'pg_class'::regclass and d.objid = q.oid and d.refobjsubid > 0 and d.deptype in ('a', 'i')
  join pg_class as c on c.oid = d.refobjid
  join pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
 where q.relkind = 'S' and q.relnamespace = 'graphile_worker'::regnamespace and q.relname not like '%\_cursor' and q.relname <> '_gw_lane_ids';
select is_empty(
  $$ select a.attrelid::regclass, a.attname
       from pg_attribute as a
       join pg_class as c on c.oid = a.attrelid
      where c.relnamespace = 'graphile_worker'::regnamespace and a.attidentity <> ''
        and not exists (select from sequence_of_ids as s where s.of_table = a.attrelid and s.of_column = a.attname) $$,
  'each identity column has a sequence in the test');
do $$
declare
  s sequence_of_ids;
begin
  for s in select * from sequence_of_ids loop
    execute format('select setval(%L, (select min(t.%I) from %s as t), false)', s.sequence, s.of_column, s.of_table);
  end loop;
end;
$$;

select results_eq(
  $$ select regexp_replace(d.subject, '^sequence ', '') collate "C", d.severity from doctor() as d where d.finding = 'sequence behind' order by 1 $$,
  $$ select (parse_ident(s.sequence::text))[array_upper(parse_ident(s.sequence::text), 1)] collate "C", 'critical' from sequence_of_ids as s order by 1 $$,
  'each sequence that was set back is reported');
select throws_ok($$ select add_job('other') $$, '23505', null, 'a job cannot be added while a sequence is behind');

do $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = 'sequence behind' loop
    execute command;
  end loop;
end;
$$;
select is_empty($$ select * from doctor() as d where d.finding = 'sequence behind' $$,
  'the remedies set the sequences, which ends the findings');
select lives_ok($$ select add_job('other', queue_name => 'other') $$, 'jobs can be added after the remedies');

-- The row that has the last value is not behind.
select is_empty($$ select * from _gw_find_sequences_behind() $$, 'no sequence is behind after the next ids');

select * from finish();
rollback;
