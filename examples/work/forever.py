import select
import psycopg
from work import work_one

with psycopg.connect(autocommit=True) as db, psycopg.connect(autocommit=True) as ears:
    ears.execute('listen "jobs:insert"')
    while True:
        (pause,) = db.execute("""
            select greatest(0, least(60, extract(epoch from n.at - clock_timestamp())))::float8
              from graphile_worker.next_run_at(array['send_invoice']) as n (at)
        """).fetchone()
        if not work_one(db) and select.select([ears], [], [], pause)[0]:
            ears.pgconn.consume_input()
            while ears.pgconn.notifies():
                pass
