import { randomUUID } from "node:crypto";
import pg from "pg";

const db = new pg.Client();
const me = randomUUID();

async function sendInvoice(payload) {
  await db.query("update orders set invoiced_at = now() where id = $1", [payload.order]);
}

await db.connect();
for (;;) {
  const { rows: [job] } = await db.query(
    "select id, payload, lease from graphile_worker.get_job($1, array['send_invoice'])", [me]);
  if (!job) break;
  try {
    await sendInvoice(job.payload);
  } catch (error) {
    await db.query("select graphile_worker.fail_job($1, $2, $3, $4)", [me, job.id, error.message, job.lease]);
    continue;
  }
  await db.query("select graphile_worker.complete_job($1, $2, $3)", [me, job.id, job.lease]);
}
await db.end();
