-- why() says next for exactly the job that the next claim takes, over random jobs, queues, limits, pauses and claims.
begin;
select plan(2);
select setseed(0.25) is null as the_same_each_time \gset
set local search_path = graphile_worker, public;

select set_limit('narrow', tasks => '{narrow}', max_running => 1);
select set_limit('tenants', tasks => '{tenant}', by => 'payload:tenant', max_running => 2, total_running => 3);
select set_limit('rated', tasks => '{rated}', rate => 2, per => '1 hour');
select get_job_batch('worker') from generate_series(1, 9);

create temporary table differences (said bigint[], claimed bigint);
create temporary table claims (id bigint);
do $body$
declare
  said    bigint[];
  claimed bigint;
  running bigint;
begin
  for round in 1..30 loop
    for n in 1..1 + (random() * 2)::integer loop
      perform add_job((array['narrow', 'tenant', 'rated', 'plain', 'plain'])[1 + floor(random() * 5)::integer],
                      json_build_object('tenant', floor(random() * 3)),
                      case when random() < 0.3 then 'q' || floor(random() * 3) end,
                      clock_timestamp() + case when random() < 0.2 then interval '1 hour' else interval '-1 second' end * random(),
                      priority => floor(random() * 3)::integer);
    end loop;
    if random() < 0.1 then
      perform pause(limit_name => 'tenants', lane => floor(random() * 3)::text);
    elsif random() < 0.2 then
      perform resume(limit_name => 'tenants', lane => l::text) from generate_series(0, 2) as l;
    elsif random() < 0.05 then
      insert into _gw_suspects (job_id, revision) select j.id, j.revision from jobs as j where j.locked_at is null order by random() limit 1
          on conflict do nothing;
    elsif random() < 0.1 then
      delete from _gw_suspects;
    end if;
    for n in 1..3 loop
      said := array(select j.id from jobs as j where exists (select from why(j.id) as w where w.reason = 'next') order by j.id);
      select b.id into claimed from get_job_batch('worker', batch_size => 1, now => clock_timestamp()) as b;
      if said is distinct from array_remove(array[claimed], null) then
        insert into differences values (said, claimed);
      end if;
      insert into claims select claimed where claimed is not null;
    end loop;
    perform complete_job('worker', j.id) from jobs as j where j.locked_at is not null and random() < 0.4;
  end loop;
end
$body$;
select is_empty('select said, claimed from differences', 'what is said is claimed');
select cmp_ok((select count(*) from claims), '>', 30::bigint, 'of many claims');

select * from finish();
rollback;
