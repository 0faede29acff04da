package languages

import (
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// addInvoice adds a job for a new order, due after a delay, and returns the order's id.
func addInvoice(t *testing.T, pool *pgxpool.Pool, delay time.Duration) int64 {
	t.Helper()
	return pgtest.Value[int64](t, pool, `
		with o as (insert into orders (customer) values ('Ada') returning id)
		select o.id
		  from o
		 cross join graphile_worker.add_job(
		              'send_invoice', json_build_object('order', o.id), run_at => now() + $1::interval)`, delay)
}

// programs are the examples that work the jobs there are and end.
func programs() []program {
	return []program{"main.go", "work.mjs", "work.php", "work.py", "work.rb", "work.sql", "Work.java"}
}

const isInvoiced = "select invoiced_at is not null from orders where id = $1"

func TestEachLanguageCompletesJobs(t *testing.T) {
	for _, work := range programs() {
		t.Run(string(work), func(t *testing.T) {
			database, pool := shop(t)
			order := addInvoice(t, pool, 0)
			pgtest.Exec(t, pool, "select graphile_worker.add_job('send_parcel')")

			work.run(t, "work", database)

			if !pgtest.Value[bool](t, pool, isInvoiced, order) {
				t.Error("the work was not done")
			}
			left := pgtest.Value[string](t, pool,
				"select string_agg(task_identifier || ' ' || attempts, ', ') from graphile_worker.jobs")
			if want := "send_parcel 0"; left != want {
				t.Errorf("left are: %s; want: %s", left, want)
			}
		})
	}
}

func TestEachLanguageReportsWhyAJobFailed(t *testing.T) {
	for _, work := range programs() {
		t.Run(string(work), func(t *testing.T) {
			database, pool := shop(t)
			pgtest.Exec(t, pool, `select graphile_worker.add_job('send_invoice', '{"order": "seven"}')`)
			start := pgtest.Value[time.Time](t, pool, "select clock_timestamp()")

			work.run(t, "work", database)

			var lastError string
			var free bool
			var retry time.Time
			err := pool.QueryRow(t.Context(), "select coalesce(last_error, ''), locked_at is null, run_at from graphile_worker.jobs").
				Scan(&lastError, &free, &retry)
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`seven|int64`).MatchString(lastError) { // the value, or its type
				t.Errorf("last_error is %q, which does not say what is wrong with the order", lastError)
			}
			if backOff := 2700 * time.Millisecond; !free || retry.Before(start.Add(backOff)) {
				t.Errorf("the job is free: %t, for %v; want a retry after %v or more", free, retry.Sub(start), backOff)
			}
		})
	}
}
