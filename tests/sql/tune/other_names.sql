-- Indexes are found by what they are: an adopted schema may have other names, and they may have been changed by hand.
begin;
select plan(8);
set local search_path = graphile_worker, public;

create function pg_temp.key_indexes()
  returns setof text
  language sql
as $$
  select regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE (.*) ON .* USING ', '\1 ')
    from pg_index as i
   where i.indrelid = 'graphile_worker._private_jobs'::regclass and pg_get_indexdef(i.indexrelid) ~ '\(key\)'
$$;

alter table _private_jobs rename constraint jobs_key_key1 to "Jobs_key";
create index jobs_by_key on _private_jobs (key); -- a user's
select ok(not _gw_tune(true), 'a constraint of another name serves Node workers');
select ok(_gw_tune(false), 'without Node');
select set_eq('select * from pg_temp.key_indexes()',
              $$ values ('UNIQUE INDEX _gw_jobs_key btree (key) WHERE (key IS NOT NULL)'), ('INDEX jobs_by_key btree (key)') $$,
              'it is dropped, and the index that is not unique stays');
select _gw_tune(true);

alter table _private_jobs drop constraint jobs_key_key1;
create unique index my_keys on _private_jobs (key);
drop index jobs_main_index;
select results_eq('select * from _gw_tune_steps(true)', $$ select s from _gw_tune_steps(true) as s where s like 'create index jobs_main_index %' $$,
                  'a unique index without a constraint serves Node workers, too; only the other one is missing');
select ok(_gw_tune(false), 'without Node');
select set_eq('select * from pg_temp.key_indexes()',
              $$ values ('UNIQUE INDEX _gw_jobs_key btree (key) WHERE (key IS NOT NULL)'), ('INDEX jobs_by_key btree (key)') $$,
              'it is dropped');

drop index _gw_jobs_key;
select ok(_gw_tune(false), 'an index that was dropped is built again');
drop index _gw_jobs_key;
select ok(_gw_tune(true), 'in either form');

select * from finish();
rollback;
