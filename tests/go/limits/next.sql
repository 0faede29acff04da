-- Makes a random table of jobs, queues, limits, pauses and claims, and returns what differs: jobs of which why() said next, and
-- the job that the claim took then. crowded: more jobs of fair limits wait for each other. The caller has set the seed, and
-- rolls back.
create function pg_temp.differences(crowded boolean) returns table (round integer, said bigint[], claimed bigint, claims bigint)
  language plpgsql
  set search_path = graphile_worker, pg_catalog
as $body$
declare
  fair constant boolean := crowded or random() < 0.5;
begin
  claims := 0;
  perform set_limit('narrow', tasks => '{narrow}', max_running => 1);
  perform set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 2, total_running => 3, fair => fair);
  perform set_limit('customers', tasks => case when fair then '{mail}' else '{tenant,mail}' end::text[], by => 'payload:customer',
                    max_running => case when random() < 0.5 or not fair then 2 end, fair => fair) where crowded or random() < 0.7;
  perform set_limit('rated', tasks => '{rated}', rate => 2, per => '1 hour');
  for turn in 1..30 loop
    for n in 1..1 + (random() * case when crowded then 6 else 2 end)::integer loop
      perform add_job((array['tenant', 'mail', 'plain', 'narrow', 'rated', 'plain'])[1 + floor(random() * case when crowded then 3 else 6 end)::integer],
                      json_build_object('tenant', floor(random() * 3), 'customer', floor(random() * 3)),
                      case when random() < 0.3 and not crowded then 'q' || floor(random() * 3) end,
                      -- A job that became due between why() and the claim could be claimed.
                      clock_timestamp() + case when random() < 0.2 then interval '1 hour' else -random() * interval '1 second' end,
                      priority => floor(random() * case when crowded then 1 else 3 end)::integer);
    end loop;
    if random() < 0.1 then
      perform pause(limit_name => 'tenants', lane => floor(random() * 3)::text);
    elsif random() < 0.2 then
      perform resume(limit_name => 'tenants', lane => l::text) from generate_series(0, 2) as l;
    elsif random() < 0.05 then
      with drawn as (select j.id, j.queue_name from jobs as j where j.locked_at is null order by random() limit 1),
           suspect as (insert into _gw_suspects (job_id, queue_name) select d.id, d.queue_name from drawn as d on conflict do nothing returning job_id)
      update _private_jobs set job_queue_id = -2 where id = (select s.job_id from suspect as s);
    elsif random() < 0.1 then
      update _private_jobs set job_queue_id = _gw_unheld(job_queue_id, id) where job_queue_id = -2;
      delete from _gw_suspects;
    elsif random() < 0.1 then
      perform pause(task => (array['tenant', 'mail', 'plain'])[1 + floor(random() * 3)::integer]);
    elsif random() < 0.1 then
      perform pause(queue => 'q' || floor(random() * 3));
    elsif random() < 0.3 then
      perform resume(task => p.task), resume(queue => p.queue) from list_pauses() as p where p.limit_name is null;
    elsif random() < 0.1 then
      perform set_limit('tenants', tasks => '{tenant}', by => 'payload:' || (array['tenant', 'customer'])[1 + floor(random() * 2)::integer],
                        max_running => 1 + floor(random() * 2)::integer, total_running => 3, fair => fair);
    elsif random() < 0.1 then
      perform reschedule_jobs(array(select j.id from jobs as j where j.locked_at is null order by random() limit 3), priority => 2);
    elsif random() < 0.1 then
      perform complete_jobs(array(select j.id from jobs as j where j.locked_at is null order by random() limit 3));
    end if;
    for n in 1..3 loop
      said := array(select j.id
                      from jobs as j
                     where j.locked_at is null and exists (select from why(j.id) as w where w.reason = 'next')
                     order by j.id);
      select b.id into claimed from get_job_batch('worker', batch_size => 1, now => clock_timestamp()) as b;
      claims := claims + (claimed is not null)::integer;
      if said is distinct from array_remove(array[claimed], null) then
        round := turn;
        return next;
      end if;
    end loop;
    perform complete_job('worker', j.id) from jobs as j where j.locked_at is not null and random() < 0.4;
  end loop;
  round := null;
  said := null;
  claimed := null;
  return next;
end
$body$;
