-- Takes jobs back from dead workers as _gw_recover_jobs does, or, with dead null, from whoever has held them for longer than
-- expiry as _gw_reset_jobs does. A trigger of the user's may refuse that for a job: then the others are found by halves,
-- and the job stays locked, with a warning. refused: how many do.
-- Locks: what these two lock. Raises 40001, 40P01, 55P03 and 57014, which say nothing about a job; freed is as before then.
create or replace function {{.schema}}._gw_free_jobs(
  job_ids     bigint[],
  dead        text[],
  expiry      interval,
  out freed   bigint,
  out refused bigint
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
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
      raise warning 'Job % stays locked, though its worker is gone: %', job_ids[1], sqlerrm;
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
  'Internal: takes jobs back from workers that died or have held them for too long, but for those that a trigger refuses to free.';
