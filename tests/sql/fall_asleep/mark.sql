-- Only with notify = idle a worker that falls asleep is marked. The mark is renewed after half of its duration, and
-- must_look_again is true whenever it was written.
begin;
select plan(14);
set local search_path = graphile_worker, public;

create function pg_temp.left_of(worker text) returns interval language sql as $$
  select s.until - clock_timestamp() from graphile_worker._gw_sleepers as s where s.worker_id = worker
$$;

select ok(not must_look_again, 'a worker need not look again if notify is always') from fall_asleep('worker');
select set_setting('notify', 'never');
select ok(not must_look_again, 'a worker need not look again if notify is never') from fall_asleep('worker');
select is_empty($$ select worker_id from _gw_sleepers $$, 'no worker is marked unless notify is idle');

select set_setting('notify', 'idle');
select ok(not must_look_again, 'a worker that polls need not look again') from fall_asleep('worker', lasting => null);
select is_empty($$ select worker_id from _gw_sleepers $$, 'a worker that polls is not marked');
select ok(must_look_again, 'a worker that is newly marked must look again') from fall_asleep('worker');
select ok(pg_temp.left_of('worker') between interval '5 seconds' and interval '10 seconds',
  'the mark of a worker is for ten seconds');

update _gw_sleepers set until = clock_timestamp() + interval '55 seconds';
select ok(not must_look_again,
  'a worker need not look again if more than half of its mark is left') from fall_asleep('worker', lasting => '100 seconds');
select ok(pg_temp.left_of('worker') < interval '55 seconds',
  'a mark with more than half of its duration left is not renewed');
select ok(must_look_again,
  'a worker must look again if less than half of its mark is left') from fall_asleep('worker', lasting => '2 minutes');
select ok(pg_temp.left_of('worker') > interval '1 minute',
  'a mark with less than half of its duration left is renewed');
update _gw_sleepers set until = clock_timestamp() - interval '1 second';
select ok(must_look_again, 'a worker whose mark was over must look again') from fall_asleep('worker');

select ok(must_look_again, 'each worker has a mark of its own') from fall_asleep('other');
select is((select count(*) from _gw_sleepers), 2::bigint,
  'the mark of one worker is stored in addition to that of the other');

select * from finish();
rollback;
