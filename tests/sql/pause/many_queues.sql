-- Pauses of queues end by hundreds; a pause that is left keeps its queue until its turn comes.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select pause(queue => 'q' || n, until => clock_timestamp() + interval '1 hour') from generate_series(1, 101) as n;
update _gw_pauses set until = now();
select _gw_sweep_pauses();
select is((select count(*) from _gw_pauses), 1::bigint, 'a sweep ends 100 of 101 pauses of queues');
select is((select count(*) from _private_job_queues where locked_at is not null), 1::bigint,
  'the pause that is left keeps its queue');
select _gw_sweep_pauses();
select is((select count(*) from _gw_pauses), 0::bigint, 'the next sweep ends the last pause');
select is((select count(*) from _private_job_queues where locked_at is not null), 0::bigint,
  'all queues are free when all pauses have ended');

select * from finish();
rollback;
