-- Takes from our side tables what is not needed any more: workers that were not seen for setting forget_worker_after,
-- marks of sleepers that are over, suspects and cancelations whose jobs have ended, contexts of jobs that are gone.
-- Locks: the rows that it removes, passing by those that somebody else has locked.
create or replace function {{.schema}}._gw_drop_spent()
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  delete from {{.schema}}._gw_workers as w
   where w.id in (select l.id
                    from {{.schema}}._gw_workers as l
                   where l.last_seen_at < now() - {{.schema}}.setting('forget_worker_after')::interval
                     for update skip locked);
  delete from {{.schema}}._gw_sleepers as s
   where s.worker_id in (select l.worker_id
                           from {{.schema}}._gw_sleepers as l
                          where l.until < now()
                            for update skip locked);
  perform {{.schema}}._gw_drop_spent_suspects();
  perform {{.schema}}._gw_drop_spent_cancels();
  perform {{.schema}}._gw_drop_spent_contexts(10000);
end;
$$;

comment on function {{.schema}}._gw_drop_spent() is
  'Internal: takes from the side tables what is not needed any more.';
