-- The sweep deletes workers that were not seen for a day, or for the time in the setting.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select register_worker(w) from unnest(array['here', 'quiet', 'gone']) as w;
update _gw_workers set last_seen_at = now() - interval '23 hours' where id = 'quiet';
update _gw_workers set last_seen_at = now() - interval '25 hours' where id = 'gone';

select tidy();
select set_eq($$ select id from _gw_workers $$, array['here', 'quiet'],
  'a worker that was not seen for a day is deleted');
select set_setting('forget_worker_after', '22 hours');
update _gw_turns set last_at = '-infinity';
select tidy();
select set_eq($$ select id from _gw_workers $$, array['here'],
  'a worker that was not seen for the time of the setting is deleted');

select * from finish();
rollback;
