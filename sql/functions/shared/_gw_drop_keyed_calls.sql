-- Deletes the records of add_job_once, debounce_job and throttle_job that are no longer needed, a minute late: a call
-- whose transaction began while a record was needed goes by now(), and has to find it. A record whose job still waits
-- although it was due is checked again an hour later.
-- Locks: the rows that it deletes; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_drop_keyed_calls(most integer default 10000)
  returns void language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
  with spent as materialized (
    select c.kind, c.key, c.kind <> 'once' and exists (select from {{.schema}}._private_jobs as j where j.id = c.job_id) as is_needed
      from {{.schema}}._gw_keyed_calls as c
     where c.kept_until < now() - interval '1 minute'
     order by c.kept_until
     limit most
       for update skip locked
  ), kept as (
    update {{.schema}}._gw_keyed_calls as c
       set kept_until = now() + interval '1 hour'
      from spent as s
     where s.is_needed and c.kind = s.kind and c.key = s.key
  )
  delete from {{.schema}}._gw_keyed_calls as c
   using spent as s
   where not s.is_needed and c.kind = s.kind and c.key = s.key
$$;
