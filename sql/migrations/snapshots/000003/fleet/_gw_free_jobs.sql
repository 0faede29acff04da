-- Frees jobs of dead workers as _gw_recover_jobs does, or, if dead is null, jobs held for longer than expiry as
-- _gw_reset_jobs does. A user's trigger may refuse the update of a job. The function then splits the list in halves to
-- free the other jobs; the refused job stays locked, and the function raises a warning. refused is the number of such
-- jobs.
-- Locks: what these two functions lock.
-- Raises 40001, 40P01, 55P03 and 57014, which do not depend on a job; nothing is freed then.
create or replace function {{.schema}}._gw_free_jobs(
  job_ids bigint[], dead text[], expiry interval, out freed bigint, out refused bigint)
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  half constant integer := cardinality(job_ids) / 2;
begin
  refused := 0;
  begin
    if dead is null then
      freed := {{.schema}}._gw_reset_jobs(job_ids, expiry);
    else
      freed := {{.schema}}._gw_recover_jobs(dead, job_ids);
    end if;
    return;
  exception when others or assert_failure then
    if sqlstate in ('40001', '40P01', '55P03') then
      raise;
    elsif half = 0 then
      raise warning 'Job % stays locked although its worker is gone: %', job_ids[1], sqlerrm;
      freed := 0;
      refused := 1;
      return;
    end if;
  end;
  select sum(f.freed), sum(f.refused)
    into freed, refused
    from (values (job_ids[:half]), (job_ids[half + 1:])) as h (ids)
   cross join lateral {{.schema}}._gw_free_jobs(h.ids, dead, expiry) as f;
end;
$$;

comment on function {{.schema}}._gw_free_jobs(bigint[], text[], interval) is
  'Internal: frees jobs of workers that are dead or have held them for too long, except those that a trigger refuses to free.';
