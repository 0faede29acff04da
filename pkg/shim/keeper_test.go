package shim_test

import (
	"context"
	"os"
	"testing"

	"github.com/gwsql/gw/internal/build"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAWorkerIsRegisteredWhileItRunsAndAgainIfForgotten(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 3, WorkerID: "gw-one"})
	w.Handle("b", func(context.Context, *shim.Job) error { return nil })
	w.Handle("a", func(context.Context, *shim.Job) error { return nil })
	w.start()
	w.logs.await(t, "INFO worker started", "worker_id=gw-one", "tasks=[a b]")
	const registered = `select exists (select from graphile_worker._gw_workers
		where id = 'gw-one' and tasks = '{a,b}' and concurrency = 3 and pid = $1 and host <> '' and version = $2)`
	version := build.Read().Program()
	if !value[bool](q, registered, os.Getpid(), version) {
		t.Error("the worker is not registered")
	}
	q.exec(`delete from graphile_worker._gw_workers`)
	q.await(registered, os.Getpid(), version)
	w.stop()
	if value[bool](q, `select exists (select from graphile_worker._gw_workers)`) {
		t.Error("the worker is still registered")
	}
}

func TestStaleLocksOfOthersAreSwept(t *testing.T) {
	q := newQueue(t)
	id := q.add("ping", 1)
	q.exec(`update graphile_worker._private_jobs set locked_by = 'pool-gone', locked_at = now() - interval '5 hours', attempts = 1`)
	w := q.worker(shim.Config{})
	ran := make(chan int64, 1)
	w.Handle("ping", func(_ context.Context, job *shim.Job) error {
		ran <- job.ID
		return nil
	})
	w.start()
	if got := receive(t, ran); got != id {
		t.Errorf("job %d ran, want %d", got, id)
	}
	w.logs.await(t, "WARN jobs with stale locks freed", "jobs=1")
}
