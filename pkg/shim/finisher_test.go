package shim_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func TestALateOutcomeIsRefusedAndSaidSo(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	running, release := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		close(running)
		<-release
		return nil
	})
	id := q.add("long", 1)
	w.start()
	receive(t, running)
	// Even the same worker's next claim is another lease.
	q.exec(`select graphile_worker.force_unlock_workers(array[$1])`, w.ID())
	q.exec(`select id from graphile_worker.get_job($1, array['long'])`, w.ID())
	close(release)
	w.logs.await(t, "WARN lease lost", "task_identifier=long", fmt.Sprint("job_id=", id), "attempt=1")
	if !value[bool](q, `select locked_by = $1 and attempts = 2 from graphile_worker.jobs`, w.ID()) {
		t.Error("the second claim did not outlive the first one's outcome")
	}
	w.stop()
}

func TestQuietSuccessDropsOnlySuccesses(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{QuietSuccess: true})
	w.Handle("good", func(context.Context, *shim.Job) error { return nil })
	w.Handle("bad", func(context.Context, *shim.Job) error { return fmt.Errorf("bad") })
	q.exec(`select graphile_worker.add_job('good'), graphile_worker.add_job('bad')`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.logs.await(t, "WARN job failed")
	if lines, _ := w.logs.find("job completed"); lines != nil {
		t.Errorf("logged %q", lines)
	}
}
