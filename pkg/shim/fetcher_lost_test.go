package shim_test

import (
	"context"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

// After a failover a job may be locked in a worker's name without the worker's knowledge.
func TestAWorkerThatListensAnewReturnsWhatItDoesNotKnow(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 2})
	holding, release, ran := make(chan struct{}), make(chan struct{}), make(chan *shim.Job, 1)
	w.Handle("hold", func(context.Context, *shim.Job) error {
		close(holding)
		<-release
		return nil
	})
	w.Handle("lost", func(_ context.Context, job *shim.Job) error {
		ran <- job
		return nil
	})
	w.start()
	pid := q.awaitListening()
	q.add("hold", 1)
	receive(t, holding)
	q.exec(`select graphile_worker.add_job('lost', run_at => now() + interval '1 hour')`)
	q.exec(`update graphile_worker._private_jobs as j set locked_by = $1, locked_at = now(), attempts = 1, run_at = now()
	          from graphile_worker._private_tasks as t where t.id = j.task_id and t.identifier = 'lost'`, w.ID())
	q.exec(`select pg_terminate_backend($1)`, pid)
	if job := receive(t, ran); job.Attempts != 1 {
		t.Errorf("the job that was not started has made %d attempts", job.Attempts)
	}
	if held := value[int](q, `select count(*) from graphile_worker.jobs where locked_by = $1 and task_identifier = 'hold'`, w.ID()); held != 1 {
		t.Error("what it knows is not its own any more")
	}
	close(release)
	w.stop()
}
