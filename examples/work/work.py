import uuid
import psycopg

me = str(uuid.uuid4())

def send_invoice(db, payload):
    db.execute("update orders set invoiced_at = now() where id = %s", [payload["order"]])

def work_one(db):
    job = db.execute(
        "select id, payload, lease from graphile_worker.get_job(%s, array['send_invoice'])", [me]
    ).fetchone()
    if job is None:
        return False
    id, payload, lease = job
    try:
        send_invoice(db, payload)
    except Exception as error:
        db.execute("select graphile_worker.fail_job(%s, %s, %s, %s)", [me, id, str(error), lease])
    else:
        db.execute("select graphile_worker.complete_job(%s, %s, %s)", [me, id, lease])
    return True

if __name__ == "__main__":
    with psycopg.connect(autocommit=True) as db:
        while work_one(db):
            pass
