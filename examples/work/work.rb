require "json"
require "pg"
require "securerandom"

def send_invoice(db, payload)
  db.exec_params("update orders set invoiced_at = now() where id = $1", [payload.fetch("order")])
end

db = PG.connect
me = SecureRandom.uuid
claim = "select id, payload, lease from graphile_worker.get_job($1, array['send_invoice'])"
while (job = db.exec_params(claim, [me]).first)
  begin
    send_invoice(db, JSON.parse(job["payload"]))
  rescue => error
    db.exec_params("select graphile_worker.fail_job($1, $2, $3, $4)", [me, job["id"], error.message, job["lease"]])
  else
    db.exec_params("select graphile_worker.complete_job($1, $2, $3)", [me, job["id"], job["lease"]])
  end
end
