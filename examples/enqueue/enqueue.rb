require "json"
require "pg"

PG.connect.transaction do |db|
  order = db.exec_params("insert into orders (customer) values ($1) returning id", ["Ada"]).getvalue(0, 0)
  db.exec_params("select from graphile_worker.add_job('send_invoice', $1, queue_name => 'invoices')",
                 [JSON.generate(order: order.to_i)])
end
