-- A claim of groups that share no lane takes the first jobs if none has a turn, and orders the turns instead of the jobs if all have
-- one. It chooses the jobs that the way for all other cases chooses.
begin;
select plan(2);
set local search_path = graphile_worker, public;
select set_limit('mail', tasks => '{mail}', by => 'payload:t', fair => true);
select add_job('mail', json_build_object('t', n)) from generate_series(1, 12) as n;
select setseed(0.5);

create temporary table answers on commit drop as
  with tries as (
    select n, 1 + floor(random() * 40)::integer as batch_size, 1 + floor(random() * 5)::integer as quantum, 1 + floor(random() * 12)::integer as fair_jobs
      from generate_series(1, 300) as n
  ), jobs as (
    select t.n, g.id, _gw_turn(floor(random() * 4)::bigint, to_timestamp(floor(random() * 4))) as turn, 1 + floor(random() * t.fair_jobs)::integer as jobs
      from tries as t
     cross join _gw_groups as g
  ), heads as (
    select j.n, j.id, j.turn, p.priority, p.run_at, row_number() over (partition by j.n order by p.priority, p.run_at, p.tie) as place
      from jobs as j
     cross join lateral (select floor(random() * 2)::smallint as priority, to_timestamp(floor(random() * 6)) as run_at, random() as tie
                           from generate_series(1, j.jobs)) as p
  ), arguments as (
    select t.*, a.*, (select array_agg(g.id order by g.id) from _gw_groups as g) as groups
      from tries as t
     cross join lateral (
            select array_agg(format('(1,%s)', h.place)::tid order by h.place) as places, array_agg(h.id order by h.place) as owners,
                   array_agg(h.priority order by h.place) as priorities, array_agg(h.run_at order by h.place) as run_ats,
                   array_agg(h.turn order by h.place) as turns
              from heads as h
             where h.n = t.n) as a
  )
  select a.n, fair, shares, f.places, f.is_cut
    from arguments as a
   cross join unnest('{f,t}'::boolean[]) as fair
   cross join unnest('{f,t}'::boolean[]) as shares
   cross join lateral _gw_fitting_jobs(
          a.places, a.owners, a.priorities, a.run_ats, case when fair then a.turns else array_fill(null::bigint, array[cardinality(a.turns)]) end,
          a.groups, array_fill(null::integer, array[cardinality(a.groups)]),
          array_fill(1, array[cardinality(a.groups)]), '{}', '{}', shares, a.batch_size, a.quantum, a.fair_jobs, a.fair_jobs) as f;

select results_eq(
  $$ select n, fair, places, is_cut from answers where not shares order by n, fair $$,
  $$ select n, fair, places, is_cut from answers where shares order by n, fair $$,
  'both ways choose the same jobs, and say alike whether other jobs could come first');
select ok(count(*) filter (where is_cut) between 60 and 540 and count(distinct places) filter (where fair) > 250, 'the batches differ') from answers where shares;

select * from finish();
rollback;
