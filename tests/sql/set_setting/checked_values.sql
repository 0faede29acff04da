-- Settings are checked when they are set; null restores the default.
begin;
select plan(26);
set local search_path = graphile_worker, public;

select is(setting('stale_sweep_every'), '1 minute', 'a setting that was not set has its default');
select is(set_setting('stale_sweep_every', '5 minutes'), '5 minutes',
  'set_setting() returns the value that it has set');
select is(setting('stale_sweep_every'), '5 minutes', 'a setting that was set has its value');
select is(set_setting('stale_sweep_every', '10 seconds'), '10 seconds', 'a setting can be set again');
select is(set_setting('stale_sweep_every', null), '1 minute', 'set_setting() with null returns the default');
select is(setting('stale_sweep_every'), '1 minute', 'a setting that was set to null has its default');
select is_empty($$ select name from _gw_settings $$, 'a setting that was set to null has no row');

select throws_ok($$ select set_setting('stale_sweep_evry', '1 minute') $$, 'GWSNM', 'There is no setting ''stale_sweep_evry''.');
select throws_ok($$ select set_setting(null, '1 minute') $$, 'GWSNM', 'There is no setting ''null''.');
select throws_ok($$ select set_setting('stale_sweep_every', 'often') $$,
                 'GWSVA', 'Setting ''stale_sweep_every'' must be an interval from 00:00:01 to 01:00:00, not ''often''.');
select throws_ok($$ select set_setting('stale_sweep_every', '') $$, 'GWSVA');
select throws_ok($$ select set_setting('stale_sweep_every', '999 ms') $$, 'GWSVA');
select throws_ok($$ select set_setting('stale_sweep_every', '61 minutes') $$, 'GWSVA');
select is(setting('notify'), 'always', 'the default of a setting may be a word');
select is(set_setting('notify', 'idle'), 'idle', 'a setting can be set to one of its words');
select is(setting('notify'), 'idle', 'a setting that was set to a word has it');
select throws_ok($$ select set_setting('notify', 'sometimes') $$,
                 'GWSVA', 'Setting ''notify'' must be one of always, idle, never, not ''sometimes''.');
select throws_ok($$ select set_setting('notify', '') $$, 'GWSVA');
select throws_ok($$ select set_setting('notify', '1 minute') $$, 'GWSVA');
select is(set_setting('crashes_allowed', '7'), '7', 'a setting can be set to a number');
select throws_ok($$ select set_setting('crashes_allowed', '0') $$,
                 'GWSVA', 'Setting ''crashes_allowed'' must be a number from 1 to 1000, not ''0''.');
select throws_ok($$ select set_setting('crashes_allowed', '1001') $$, 'GWSVA');
select throws_ok($$ select set_setting('crashes_allowed', '99999999999') $$, 'GWSVA');
select throws_ok($$ select set_setting('crashes_allowed', '1 day') $$, 'GWSVA');
select throws_ok($$ select set_setting('crashes_allowed', '') $$, 'GWSVA');
select is(setting('no_such_setting'), null, 'an unknown setting has no value');

select * from finish();
rollback;
