package shim_test

import (
	"context"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func TestATaskAtItsLimitLeavesItsJobsInTheQueue(t *testing.T) {
	q := newQueue(t)
	began, release := make(chan int64, 10), make(chan struct{})
	handler := func(_ context.Context, job *shim.Job) error {
		began <- job.ID
		<-release
		return nil
	}
	first := q.worker(shim.Config{Concurrency: 4})
	first.Handle("few", handler, shim.Concurrency(2))
	first.Handle("many", nothing)
	q.add("few", 5)
	first.start()
	receive(t, began)
	receive(t, began)
	q.add("many", 20) // finds executors that are free
	q.await(`select count(*) filter (where locked_at is not null) = 2 and count(*) = 5 from graphile_worker.jobs`)

	second := q.worker(shim.Config{Concurrency: 2})
	second.Handle("few", handler)
	second.start()
	receive(t, began)
	receive(t, began)
	q.await(`select count(*) = 4 from graphile_worker.jobs where locked_at is not null`)
	second.Kill() // its jobs are returned
	close(release)
	q.await(`select not exists (select from graphile_worker.jobs)`) // the first goes on without being told
	first.stop()
}

// The worker gets no other notification: it polls once an hour, and all jobs were added before it listened.
func TestATaskThatHasRoomAgainIsAskedForAtOnce(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 2})
	w.Handle("one", nothing, shim.Concurrency(1))
	q.add("one", 50)
	w.start()
	q.await(`select not exists (select from graphile_worker.jobs)`)
}

func TestLimitsDoNotKeepRunOnceFromTheLastJob(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 3})
	running, most := make(chan struct{}, 3), 0
	w.Handle("one", func(context.Context, *shim.Job) error {
		running <- struct{}{}
		most = max(most, len(running))
		<-running
		return nil
	}, shim.Concurrency(1))
	w.Handle("two", nothing, shim.Concurrency(2))
	w.Handle("any", nothing)
	for range 5 {
		q.add("one", 20)
		q.add("two", 20)
		q.add("any", 20)
		if err := w.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := q.jobs(); n != 0 {
			t.Fatalf("%d jobs are left", n)
		}
	}
	if most != 1 {
		t.Errorf("%d ran at once", most)
	}
}

func TestALimitOnOneTaskDoesNotMakeTheClaimsOfOthersSmall(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 2})
	events := record(w)
	w.Handle("limited", nothing, shim.Concurrency(1))
	w.Handle("short", nothing)
	const jobs = 4000
	q.add("short", jobs)
	q.add("limited", 3)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	claims := len(only[shim.ClaimSucceeded](events()))
	if q.jobs() != 0 || claims > jobs/20 {
		t.Errorf("%d jobs left after %d claims", q.jobs(), claims)
	}
}

func TestALimitOfAsManyAsTheWorkerRunsIsNone(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 2})
	events := record(w)
	w.Handle("short", nothing, shim.Concurrency(2))
	const jobs = 2000
	q.add("short", jobs)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if claims := len(only[shim.ClaimSucceeded](events())); claims > jobs/20 {
		t.Errorf("%d claims for %d jobs", claims, jobs)
	}
}
