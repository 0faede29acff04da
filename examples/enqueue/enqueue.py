import json
import psycopg

with psycopg.connect() as db:  # commits at the end, rolls back after an exception
    (order,) = db.execute("insert into orders (customer) values (%s) returning id", ["Ada"]).fetchone()
    db.execute(
        "select from graphile_worker.add_job('send_invoice', %s, queue_name => 'invoices')",
        [json.dumps({"order": order})],
    )
