import pg from "pg";

const db = new pg.Client();
await db.connect();
await db.query("begin");
const { rows } = await db.query("insert into orders (customer) values ($1) returning id", ["Ada"]);
const payload = { order: Number(rows[0].id) }; // pg returns a bigint as a string
await db.query("select from graphile_worker.add_job('send_invoice', $1, queue_name => 'invoices')", [payload]);
await db.query("commit");
await db.end();
