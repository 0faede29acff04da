package languages

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestEachLanguageAddsAJobInTheTransactionOfItsReason(t *testing.T) {
	for _, enqueue := range []program{
		"enqueue.mjs", "enqueue.php", "enqueue.py", "enqueue.rb", "enqueue.sql", "Enqueue.java", "main.go",
	} {
		t.Run(string(enqueue), func(t *testing.T) {
			database, pool := shop(t)
			enqueue.run(t, "enqueue", database)

			if orders := pgtest.Value[int](t, pool, "select count(*) from orders where customer = 'Ada'"); orders != 1 {
				t.Errorf("the program placed %d orders, want 1", orders)
			}
			as := pgtest.Value[bool](t, pool, `
				select count(*) = 1 and bool_and(t.identifier = 'send_invoice'
				                                 and q.queue_name = 'invoices'
				                                 and j.payload::jsonb = jsonb_build_object('order', o.id)
				                                 and j.xmin = o.xmin)
				  from graphile_worker._private_jobs as j
				  join graphile_worker._private_tasks as t on t.id = j.task_id
				  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
				  left join orders as o on true`)
			if !as {
				t.Error("want one job send_invoice for the order, in the queue invoices, from the same transaction")
			}
		})
	}
}
