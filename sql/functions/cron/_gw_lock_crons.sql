-- Inserts unknown recurring jobs and locks those to run until the transaction ends. So only one transaction at a time
-- schedules a recurring job, Node workers included.
-- A Node worker locks in the order of its crontab, within one statement. To avoid deadlocks, this function waits for a
-- row only while it holds no locks: if one row is busy, the block is rolled back, which releases all its locks.
create or replace function {{.schema}}._gw_lock_crons(identifiers text[], new_identifiers text[], now timestamptz)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  busy text;
begin
  loop
    begin
      insert into {{.schema}}._private_known_crontabs (identifier, known_since)
      select n.identifier, _gw_lock_crons.now
        from unnest(new_identifiers) with ordinality as n (identifier, number)
       order by n.number
          on conflict (identifier) do nothing;
      with locked as (
        select k.identifier
          from {{.schema}}._private_known_crontabs as k
         where k.identifier = any (identifiers)
         order by k.identifier
           for update skip locked
      )
      select min(k.identifier) into busy
        from {{.schema}}._private_known_crontabs as k
       where k.identifier = any (identifiers)
         and k.identifier not in (select l.identifier from locked as l);
      -- A new one may have been deleted between the two statements.
      if busy is null
         and not exists (select
                           from unnest(new_identifiers) as n (identifier)
                          where n.identifier not in (select k.identifier from {{.schema}}._private_known_crontabs as k)) then
        return;
      end if;
      raise exception using errcode = 'GWBKC';
    exception when sqlstate 'GWBKC' then
      null;
    end;
    begin
      perform from {{.schema}}._private_known_crontabs as k where k.identifier = busy for update;
      raise exception using errcode = 'GWBKC';
    exception when sqlstate 'GWBKC' then
      null;
    end;
  end loop;
end;
$$;
