-- A publication of all tables forbids updates and deletes of a table without a primary key or another replica identity. All
-- tests of this folder run under such a publication; see scripts/pgtap.sh.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select isnt_empty($$ select from pg_publication as p where p.puballtables $$,
  'the tests run under a publication of all tables');

-- A partition of a day, as the sweep makes it.
select _gw_make_history(array[date '2040-01-01']);

create temporary view without_identity as
select c.relname as name
  from pg_class as c
 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p'
   and case c.relreplident
         when 'd' then not exists (select from pg_index as i where i.indrelid = c.oid and i.indisprimary)
         when 'n' then true
         else false
       end;

select results_eq(
  $$ select name from without_identity order by 1 $$,
  $$ values ('_gw_claim_turn'::name), ('_gw_ended'), ('_gw_ended_0'), ('_gw_ended_1'), ('_gw_ended_2'), ('_gw_history'),
            ('_gw_history_20400101'), ('_gw_second_claim_turn') $$,
  'the tables without identity are those that are only inserted into, truncated, dropped or locked');

select is_empty(
  $$ select p.oid::regprocedure, w.name
       from pg_proc as p
       join without_identity as w
         on p.prosrc ~* ('(\mupdate\s+(only\s+)?|\mdelete\s+from\s+(only\s+)?|\mmerge\s+into\s+(only\s+)?)("?[a-z_]+"?\.)?' || w.name::text || '\M')
         or p.prosrc ~* ('insert\s+into\s+("?[a-z_]+"?\.)?' || w.name::text || '\M[^;]*\mdo\s+update\M')
      where p.pronamespace = 'graphile_worker'::regnamespace $$,
  'no function updates or deletes rows of a table without identity');

select is_empty(
  $$ select c.oid::regclass, a.attname
       from pg_class as c
       join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relreplident = 'f'
        and a.atttypid in ('json'::regtype, 'xml'::regtype, 'point'::regtype) $$,
  'a subscriber can compare the rows of a table whose identity is the row');

select * from finish();
rollback;
