-- Every default passes the check of set values.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select is_empty(
  $$ select name from _gw_known_settings() as k where set_setting(k.name, k.default_value) <> k.default_value $$,
  'each default is accepted and returned as it is');
select set_eq(
  $$ select name from _gw_settings $$,
  $$ select name from _gw_known_settings() $$,
  'each default that is set is stored');

select * from finish();
rollback;
