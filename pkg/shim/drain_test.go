package shim_test

import (
	"context"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func TestADrainedWorkerEndsItsJobsAndClaimsNone(t *testing.T) {
	q := newQueue(t)
	q.beatQuickly()
	w := q.worker(shim.Config{Concurrency: 2})
	holding, release, ran := make(chan struct{}), make(chan struct{}), make(chan *shim.Job, 10)
	w.Handle("hold", func(context.Context, *shim.Job) error {
		close(holding)
		<-release
		return nil
	})
	w.Handle("other", func(_ context.Context, job *shim.Job) error {
		ran <- job
		return nil
	})
	w.start()
	held := q.add("hold", 1)
	receive(t, holding)
	q.await(`select running = 1 and claimed_ids = array[$1::bigint] from graphile_worker._gw_workers where id = $2`,
		held, w.ID())

	q.exec(`select graphile_worker.drain_worker($1)`, w.ID())
	q.awaitBeats()
	q.add("other", 1)
	q.await(`select state = 'draining' from graphile_worker.list_workers()`)
	close(release)
	q.await(`select state = 'drained' from graphile_worker.list_workers()`)
	q.awaitBeats()
	if n := value[int](q, `select count(*) from graphile_worker.jobs where task_identifier = 'other' and locked_at is null`); n != 1 || len(ran) > 0 {
		t.Error("the drained worker has claimed a job")
	}

	q.exec(`select graphile_worker.drain_worker($1, false)`, w.ID())
	receive(t, ran)
	w.stop()
}

func TestADrainedRunThatEndsWhenNothingIsRunnableEnds(t *testing.T) {
	q := newQueue(t)
	q.beatQuickly()
	w := q.worker(shim.Config{Concurrency: 1})
	holding, release := make(chan struct{}), make(chan struct{})
	w.Handle("hold", func(context.Context, *shim.Job) error {
		close(holding)
		<-release
		return nil
	})
	q.add("hold", 1)
	ended := make(chan error, 1)
	go func() { ended <- w.RunOnce(t.Context()) }()
	receive(t, holding)
	q.exec(`select graphile_worker.drain_worker($1)`, w.ID())
	q.awaitBeats()
	q.add("hold", 1)
	close(release)
	if err := receive(t, ended); err != nil {
		t.Error(err)
	}
	if n := value[int](q, `select count(*) from graphile_worker.jobs where attempts = 0`); n != 1 {
		t.Errorf("%d jobs have not started, want 1", n)
	}
}
