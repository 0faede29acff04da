package languages

import (
	"bytes"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// Without jobs the worker sleeps for a minute, which is longer than waitUntil waits.
func TestTheWorkerThatSleepsWakesForANewJobAndForALaterOneInTime(t *testing.T) {
	database, pool := shop(t)
	var output bytes.Buffer
	worker := program("forever.py").command(t.Context(), t, "work", database)
	worker.Stdout, worker.Stderr = &output, &output
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
		if t.Failed() {
			t.Logf("the worker: %s", &output)
		}
	})
	pgtest.Await(t, pool, `
		select exists (
		  select from pg_stat_activity
		   where datname = current_database() and state = 'idle' and query like 'select id, payload, lease from %')`)

	pgtest.Await(t, pool, isInvoiced, addInvoice(t, pool, 0))
	pgtest.Await(t, pool, isInvoiced, addInvoice(t, pool, time.Second))
}
