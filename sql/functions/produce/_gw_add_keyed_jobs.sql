-- Adds the jobs of add_jobs if at least one spec has a key. The caller has checked the specs, holds their name locks
-- and has created the names. job_keys are the distinct keys. incoming: see _gw_incoming.
-- Two calls never wait for each other. A call waits for a new key only while it holds no locks other than new keys that
-- sort before it. It waits for an existing row only while it holds no locks: if one row is busy, the block is rolled
-- back, which releases all its locks.
create or replace function {{.schema}}._gw_add_keyed_jobs(
  specs {{.schema}}.job_spec[], job_keys text[], job_key_mode text, incoming text[])
  returns setof {{.schema}}._private_jobs language plpgsql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  all_keyed boolean := cardinality(job_keys) = cardinality(specs);
  jobs      {{.schema}}._gw_keyed_spec[] := {{.schema}}._gw_keyed_specs(specs, incoming);
  done      {{.schema}}._gw_keyed_spec[];
  busy_key  text;
begin
  for round in 1..1000 loop
    begin
      busy_key := null;
      done := jobs;
      -- The first round assumes that every key has a waiting job, as in most calls. If that is wrong, few or no rows
      -- are locked.
      if round > 1 or not all_keyed then
        jobs := {{.schema}}._gw_draw_job_ids(jobs, job_keys);
        perform {{.schema}}._gw_insert_keyed_jobs(jobs);
        select l.busy_key, l.jobs into busy_key, done from {{.schema}}._gw_lock_keyed_jobs(jobs, job_key_mode) as l;
        if busy_key is not null then
          raise exception using errcode = 'GWBKC';
        end if;
      end if;
      return query select r.* from {{.schema}}._gw_replace_keyed_jobs(done, job_key_mode) as r;
      if found then
        return;
      end if;
      raise exception using errcode = 'GWBKC';
    exception when sqlstate 'GWBKC' then
      begin
        perform from {{.schema}}._private_jobs as j where j.key = busy_key for update;
        raise exception using errcode = 'GWBKC';
      exception when sqlstate 'GWBKC' then
        null;
      end;
    end;
  end loop;

  raise exception 'The rows under the job keys were replaced 1000 times during this call.'
    using errcode = 'GWBKC', hint = 'Nothing was added; try again.';
end;
$$;
