-- Frees these jobs as _gw_recover_jobs does. A user's trigger may refuse the update of a job. The function then splits
-- the list in halves to free the other jobs; the refused job stays locked, and the function raises a warning. refused
-- is the number of such jobs.
-- Locks: what _gw_recover_jobs locks.
-- Raises 40001, 40P01, 55P03 and 57014, which do not depend on a job; nothing is freed then.
create or replace function {{.schema}}._gw_free_jobs(
  job_ids bigint[], dead text[], expiry interval, out freed bigint, out refused bigint)
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  half constant integer := coalesce(cardinality(job_ids), 0) / 2;
begin
  refused := 0;
  begin
    freed := {{.schema}}._gw_recover_jobs(job_ids, dead, expiry);
    return;
  exception when others or assert_failure then
    if sqlstate in ('40001', '40P01', '55P03') then
      raise;
    elsif half = 0 then
      raise warning 'Job % stays as it is although no worker holds it any more: %', job_ids[1], sqlerrm;
      freed := 0;
      refused := 1;
      return;
    end if;
  end;
  select sum(f.freed), sum(f.refused) into freed, refused
    from (values (job_ids[:half]), (job_ids[half + 1:])) as h (ids)
   cross join lateral {{.schema}}._gw_free_jobs(h.ids, dead, expiry) as f;
end;
$$;
