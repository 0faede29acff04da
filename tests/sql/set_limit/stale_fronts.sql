-- A batch takes its jobs in their order when some of the fronts it reads are of jobs that are gone, and others of the same group.
begin;
select plan(4);
set local search_path = graphile_worker, public;
select set_limit('mail', tasks => '{mail}', by => 'payload:t', max_running => 3);
select add_job('mail', json_build_object('t', j.t), run_at => now() - j.ago, job_key => j.key)
  from (values ('a', 1, interval '9 minutes'), ('gone', 1, '8 minutes'), ('b', 2, '7 minutes'), ('c', 3, '6 minutes'), ('d', 1, '5 minutes'),
               ('e', 3, '4 minutes')) as j (key, t, ago);
delete from _private_jobs where key = 'gone';
select add_job('mail', json_build_object('t', 2), priority => 1, run_at => now() - interval '1 hour', job_key => 'less urgent');
select add_job('mail', json_build_object('t', 4), priority => 2, run_at => now() - interval '2 hours', job_key => 'least urgent');

-- What two claims of so many jobs have.
create function pg_temp.claims(batch_size integer, out first text[], out second text[]) language plpgsql as $$
begin
  begin
    first := array(select key from get_job_batch('w', batch_size => claims.batch_size));
    second := array(select key from get_job_batch('w', batch_size => claims.batch_size));
    raise exception using errcode = 'GWTST';
  exception when sqlstate 'GWTST' then
    null;
  end;
end;
$$;

-- Twice: on the short way, and, because of a kept slot of no lane, on the long one.
prepare claims as
  select n, c.* from unnest(array[3, 5]) as n cross join lateral pg_temp.claims(n) as c;
prepare expected as
  values (3, '{a,b,c}'::text[], '{d,e,less urgent}'::text[]), (5, '{a,b,c,d,e}', '{less urgent,least urgent}');
select results_eq('claims', 'expected', 'a claim takes jobs in their order');
insert into _gw_kept_slots (lane_id, job_id, kept_until) values (0, 0, '-infinity');
select results_eq('claims', 'expected', 'and so it does beside a kept slot');
delete from _private_jobs where key in ('b', 'd', 'e');
prepare others as values (3, '{a,c,less urgent}'::text[], '{least urgent}'::text[]), (5, '{a,c,less urgent,least urgent}', '{}');
select results_eq('claims', 'others', 'a batch is full if there are enough jobs');
delete from _gw_kept_slots;
select results_eq('claims', 'others', 'and so it is without');
select * from finish();
rollback;
