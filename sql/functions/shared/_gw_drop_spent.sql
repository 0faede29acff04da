-- Deletes expired rows of our side tables: workers that were not seen for the setting forget_worker_after, expired
-- marks of sleeping workers, suspects and cancellations whose jobs have ended, contexts, steps and progress of deleted
-- jobs, samples, claim cursors, calls under keys, and acts of operators older than the setting audit_for.
-- Locks: the rows that it deletes; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_drop_spent()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from {{.schema}}._gw_workers as w
   where w.id in (select l.id
                    from {{.schema}}._gw_workers as l
                   where l.last_seen_at < now() - (select {{.schema}}.setting('forget_worker_after')::interval)
                     for update skip locked);
  delete from {{.schema}}._gw_sleepers as s
   where s.worker_id in (select l.worker_id
                           from {{.schema}}._gw_sleepers as l
                          where l.until < now()
                            for update skip locked);
  delete from {{.schema}}._gw_samples as s where s.at < now() - (select {{.schema}}.setting('samples_for')::interval);
  delete from {{.schema}}._gw_audit as a
   where a.id in (select l.id
                    from {{.schema}}._gw_audit as l
                   where l.at < now() - (select {{.schema}}.setting('audit_for')::interval)
                   order by l.id
                   limit 10000
                     for update skip locked);
  delete from {{.schema}}._gw_claim_cursors as c where c.put_at < {{.schema}}._gw_lease(now() - interval '1 minute');
  perform {{.schema}}._gw_drop_keyed_calls();
  perform {{.schema}}._gw_drop_ended();
  perform {{.schema}}._gw_drop_spent_rows('{{ replace "'" "''" .schema }}._gw_job_context', 10000);
  perform {{.schema}}._gw_drop_spent_rows('{{ replace "'" "''" .schema }}._gw_steps', 10000);
  perform {{.schema}}._gw_drop_spent_rows('{{ replace "'" "''" .schema }}._gw_progress', 10000);
end;
$$;
