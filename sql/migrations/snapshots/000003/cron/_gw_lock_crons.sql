-- Makes recurring jobs known and locks those that are to run, until the transaction ends: of all who schedule the same
-- one, Node workers too, one does so at a time.
-- Node locks in the order of its crontab, within one statement. So that no two wait for each other, this one waits for a
-- row only with empty hands: when one of them is busy, all is undone, locks included.
create or replace function {{.schema}}._gw_lock_crons(
  identifiers     text[],
  new_identifiers text[],
  now             timestamptz
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
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
      if busy is null then
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

comment on function {{.schema}}._gw_lock_crons(text[], text[], timestamptz) is
  'Internal: makes recurring jobs known and locks those that are to run.';
