-- list_settings() lists every setting with its value.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select is((select count(*) from list_settings()), (select count(*) from _gw_known_settings()),
  'every known setting is listed');
select results_eq($$ select s.value, s.default_value, s.updated_at from list_settings() as s where s.name = 'notify' $$,
                  $$ values ('always', 'always', null::timestamptz) $$,
                  'a setting that was not set is listed with its default');
select set_setting('notify', 'idle');
select results_eq($$ select s.value, s.default_value, s.updated_at from list_settings() as s where s.name = 'notify' $$,
                  $$ values ('idle', 'always', now()) $$, 'a setting that was set is listed with its value and time');

select * from finish();
rollback;
