-- Of a lane, each claim takes the first due jobs, whenever they were added, changed or became due, also after claims whose time was
-- earlier.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select set_limit('mail', tasks => '{mail}', max_running => 1000);
select get_job_batch('worker') from generate_series(1, 9);

create function pg_temp.draw(rounds integer, out wrong text, out claimed integer) as $body$
declare
  began    constant timestamptz := now();
  moment   timestamptz;
  at       timestamptz;
  most     integer;
  expected bigint[];
  got      bigint[];
  ids      bigint[];
begin
  claimed := 0;
  for round in 1..rounds loop
    moment := began + round * interval '1 minute';
    at := moment + floor(random() * 200 - 100) * interval '1 minute';
    case floor(random() * 7)::integer
      when 0 then
        perform add_job('mail', run_at => at, priority => (random() * 4)::integer - 2);
      when 1 then
        perform add_jobs(array(select row('mail', '{}', null, moment + floor(random() * 200 - 100) * interval '1 minute', null, null,
                                          (random() * 4)::integer - 2, null)::job_spec from generate_series(1, 4)));
      when 2 then
        ids := array(select j.id from _private_jobs as j where j.locked_by is null order by random() limit 2);
        perform reschedule_jobs(ids, run_at => at, priority => (random() * 4)::integer - 2);
      when 3 then
        ids := array(select j.id from _private_jobs as j where j.locked_by is not null order by random() limit 2);
        perform fail_job('worker', u.id, 'broken') from unnest(ids) as u (id);
      when 4 then
        if random() < 0.2 then
          perform get_job_batch('worker', now => least(at, moment));
        else
          ids := array(select j.id from _private_jobs as j where j.locked_by is not null order by random() limit 20);
          perform complete_job_batch('worker', ids);
        end if;
      else
        most := 1 + floor(random() * 2);
        expected := array(select j.id from _private_jobs as j where j.is_available and j.run_at <= moment order by j.priority, j.run_at, j.id limit most);
        got := array(select b.id from get_job_batch('worker', batch_size => most, now => moment) as b);
        claimed := claimed + cardinality(got);
        if expected <> got then
          wrong := format('round %s: %s instead of %s', round, got, expected);
          return;
        end if;
    end case;
  end loop;
end
$body$ language plpgsql;

select setseed(0.5);
create temporary table drawn on commit drop as select * from pg_temp.draw(500);
select is(d.wrong, null, 'each claim took the first due jobs') from drawn as d;
select cmp_ok(d.claimed, '>', 75, 'many jobs were claimed in the test') from drawn as d;

select * from finish();
rollback;
