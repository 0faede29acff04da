-- After an outcome the next job of a streak may start, unless the job itself may be the next one of its queue again soon.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select is(_gw_next_may_start(state, run_at), may_start, 'a job that is ' || state || ', due ' || coalesce(at, 'now'))
  from (values ('failed', null, true), ('ready', null, false), ('ready', 'an hour ago', false), ('scheduled', 'in 10 ms', false),
               ('scheduled', 'in 1 s', true), ('scheduled', 'in a day', true)) as s (state, at, may_start)
 cross join lateral (select now() + case at when 'an hour ago' then '-1 hour' when 'in 10 ms' then '10 ms' when 'in 1 s' then '1 s'
                                            when 'in a day' then '1 day' else '0' end::interval as run_at) as r;

select * from finish();
rollback;
