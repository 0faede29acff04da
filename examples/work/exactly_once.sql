select id, payload ->> 'order' as order_id, lease
  from graphile_worker.get_job('me', array['send_invoice']) \gset
begin;
update orders set invoiced_at = now() where id = :'order_id';
select graphile_worker.complete_job('me', :id, :lease) as held \gset
\if :held
  commit;
\else
  rollback;
\endif
