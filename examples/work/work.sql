select id, payload ->> 'order' as order_id, lease
  from graphile_worker.get_job('me', array['send_invoice']) \gset
\if :{?id}
  update orders set invoiced_at = now() where id = :'order_id';
  \if :ERROR
    select graphile_worker.fail_job('me', :id, :'LAST_ERROR_MESSAGE', :lease);
  \else
    select graphile_worker.complete_job('me', :id, :lease);
  \endif
\endif
