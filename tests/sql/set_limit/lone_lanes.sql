-- Groups that have a lane of their own are claimed the short way, claim by claim with the same result as the long way.
begin;
select plan(6);
set local search_path = graphile_worker, public;
set local track_functions = 'all';
select add_job('mail'), add_job('other'), add_job('plain'); -- their names
delete from _private_jobs;

-- How often this transaction has called a function.
create function pg_temp.calls(name text) returns bigint language sql as $$
  select coalesce(sum(calls), 0)::bigint from pg_stat_xact_user_functions where schemaname = 'graphile_worker' and funcname like name
$$;
create temporary sequence short_claims minvalue 0;
create temporary sequence short_batches minvalue 0;
select nextval('short_claims'), nextval('short_batches');

-- Makes a number of claims, of which some jobs end, and returns what they claimed. A kept slot, of no lane, makes all claims take the
-- long way.
create function pg_temp.claims(long boolean, batch_size integer, queue_batch integer, max_bytes integer, tasks text[], seed float)
  returns text language plpgsql as $$
declare
  claimed   text := '';
  ids       bigint[];
  leases    bigint[];
  tries     bigint;
  others    bigint;
  has_lanes boolean := exists (select from _gw_limits as i where i.name = 'mail' and i.by is not null);
begin
  perform setseed(seed), setval('jobs_id_seq1', 1 + (select max(j.id) from _private_jobs as j));
  begin
    insert into _gw_kept_slots (lane_id, job_id, kept_until) select 0, 0, '-infinity' where long;
    for n in 1..12 loop
      tries := pg_temp.calls('_gw_lock_lone_lane%');
      others := pg_temp.calls('_gw_lock_lanes');
      select coalesce(array_agg(j.id), '{}'), array_agg(j.lease)
        into ids, leases
        from get_job_batch('w' || n, tasks, batch_size, '{forbidden}', max_bytes => max_bytes, queue_batch => queue_batch) as j;
      if ids <> '{}' and pg_temp.calls('_gw_lock_lone_lane%') > tries and pg_temp.calls('_gw_lock_lanes') = others then
        perform nextval(case when batch_size = 1 then 'short_claims' else 'short_batches' end);
      end if;
      claimed := claimed || '|' || array_to_string(ids, ' ');
      if random() < 0.1 and ids <> '{}' then
        perform rate_limited('w' || n, ids[1], leases[1], '1 hour');
        claimed := claimed || ' limited';
      end if;
      perform complete_job('w' || n, u.id) from unnest(ids) as u (id) where u.id % 2 = 0 or n % 4 = 0;
      if random() < 0.2 then
        delete from _private_jobs where id = (select j.id from _private_jobs as j where j.is_available order by j.priority, j.run_at, j.id limit 1);
      end if;
      if random() < 0.3 then
        perform add_job('mail', json_build_object('t', floor(random() * 20)), run_at => now() - n * interval '1 us',
                        priority => floor(random() * 2)::integer);
      end if;
      if random() < 0.06 and has_lanes then
        perform pause(limit_name => 'mail', lane => floor(random() * 20)::text);
      end if;
      if random() < 0.03 and has_lanes then
        perform override_lane('mail', floor(random() * 5)::text, max_running => 1 + floor(random() * 3)::integer);
      end if;
      if random() < 0.03 then
        perform force_unlock_workers(array['w' || n]);
      end if;
    end loop;
    claimed := claimed || case when exists (select from _private_jobs as j
                                              join _gw_groups as g on g.id = j.job_queue_id
                                              join _gw_lanes as l on l.id = any (g.lanes)
                                             where j.locked_at is not null and l.served_at is null) then ' not served' else '' end;
    raise exception using errcode = 'GWTST';
  exception when sqlstate 'GWTST' then
    null;
  end;
  return claimed;
end;
$$;

-- Makes limits and jobs, and claims them both ways.
create function pg_temp.attempt(n integer, out batch_size integer, out short text, out long text) language plpgsql as $$
declare
  names       text[];
  queue_batch integer;
  max_bytes   integer;
  is_simple   boolean := n % 2 = 0; -- batches of such tables go the short way more often
begin
  perform setseed(n / 1000000.0);
  batch_size := (array[1, 1, 2, 3, 5, 30])[1 + floor(random() * 6)];
  queue_batch := case when random() < 0.3 then 10 else 1 end;
  max_bytes := case when random() < 0.2 then 100 end;
  names := case when is_simple or random() < 0.7 then '{mail,other,plain}' else '{mail,plain}' end;
  begin
    case (case when is_simple then 6 else floor(random() * 7) end)
      when 0 then
        perform set_limit('mail', tasks => '{mail,other}', total_running => 3);
      when 1 then
        perform set_limit('mail', tasks => '{mail,other}', by => 'payload:t', max_running => 2, total_running => 5);
      when 2 then
        perform set_limit('mail', tasks => '{mail,other}', by => 'payload:t', max_running => 2, strict => '1 hour');
      when 3 then
        perform set_limit('mail', tasks => '{mail,other}', max_running => 3);
        perform set_limit('both', tasks => '{other}', by => 'payload:t', max_running => 1);
      when 4 then
        perform set_limit('mail', tasks => '{mail,other}', by => 'payload:t', max_running => 1);
        perform pause(task => 'other');
      when 5 then
        perform set_limit('mail', tasks => '{mail,other}', by => 'payload:t', max_running => 2, rate => 1, per => '1 hour');
      else
        perform set_limit('mail', tasks => '{mail,other}', by => 'payload:t', max_running => (array[1, 2, 3, 4])[1 + floor(random() * 4)]);
    end case;
    -- No jobs have to be moved.
    delete from _gw_moves;
    delete from _gw_fronts;
    perform add_job((array['mail', 'mail', 'other', case when is_simple then 'mail' else 'plain' end])[1 + floor(random() * 4)], json_build_object('t', floor(random() * case when is_simple then 12 else 40 end)),
                    queue_name => case when random() < 0.05 and not is_simple then 'queue' || i % 3 end,
                    run_at => now() + (floor(random() * 12) - 10) * interval '1 second' + i * interval '1 us', -- no two are the same
                    priority => case when n % 3 = 0 then floor(random() * 3)::integer else 0 end,
                    flags => case when random() < 0.05 and not is_simple then '{forbidden}'::text[] end)
       from generate_series(1, 10 + floor(random() * 80)::integer) as i;
    if random() < 0.5 then -- several jobs with one front
      perform add_jobs(array(select row('mail', json_build_object('t', i % 7), null, null, null, null, null, null)::job_spec
                               from generate_series(1, 20) as i));
    end if;
    update _gw_lanes set served_at = null;
    short := pg_temp.claims(false, batch_size, queue_batch, max_bytes, names, n / 1000000.0);
    long := pg_temp.claims(true, batch_size, queue_batch, max_bytes, names, n / 1000000.0);
    raise exception using errcode = 'GWTST';
  exception when sqlstate 'GWTST' then
    null;
  end;
end;
$$;

create temporary table answers on commit drop as
  select n, a.* from generate_series(1, 40) as n cross join lateral pg_temp.attempt(n) as a;
select is_empty('select n, batch_size, short, long from answers where short <> long or short like ''%not served''',
                'both ways claim the same jobs');
select cmp_ok((select count(distinct short) from answers), '>', 35::bigint, 'of different tables');
select cmp_ok(currval('short_claims'), '>', 40::bigint, 'many claims of one job go the short way') from answers limit 1;
select cmp_ok(currval('short_batches'), '>', 20::bigint, 'and of several') from answers limit 1;
select cmp_ok(pg_temp.calls('_gw_lock_lanes'), '>', 900::bigint, 'and many the long way');

-- Two jobs of a lane for two, of which only one fits the batch.
select set_limit('mail', tasks => '{mail}', max_running => 2);
delete from _gw_moves;
delete from _gw_fronts;
select add_job('mail', to_json(repeat('x', 100))), add_job('mail', to_json(repeat('y', 100)));
select results_eq($$ select (select count(*) from get_job_batch('w' || n, batch_size => 5, max_bytes => 120)) from generate_series(1, 3) as n $$,
  $$ values (1::bigint), (1), (0) $$, 'a job that does not fit a batch is claimed next');

select * from finish();
rollback;
