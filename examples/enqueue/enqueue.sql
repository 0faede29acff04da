begin;
insert into orders (customer) values ('Ada') returning id as order_id \gset
select from graphile_worker.add_job(
  'send_invoice', json_build_object('order', :order_id), queue_name => 'invoices');
commit;
