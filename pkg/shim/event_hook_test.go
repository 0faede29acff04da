package shim_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func TestHooksHaveSeenEverythingInOrderWhenTheRunIsOver(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var started, ids []int64
	all := 0
	shim.On(w.Worker, func(e shim.JobStarted) { started = append(started, e.Job.ID) })
	shim.On(w.Worker, func(shim.Event) { all++ })
	w.Handle("task", func(_ context.Context, job *shim.Job) error {
		ids = append(ids, job.ID)
		return nil
	})
	q.add("task", 200)
	events := record(w)
	runOnce(t, w)
	if len(ids) != 200 || !slices.Equal(started, ids) {
		t.Errorf("a hook saw %d of %d jobs, or in another order", len(started), len(ids))
	}
	if n := len(events()); all != n {
		t.Errorf("a hook for all saw %d of %d events", all, n)
	}
}

func TestARunEndsWhenItsHooksHaveSeenTheLastEvent(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	seen := false
	shim.On(w.Worker, func(shim.WorkerStopped) {
		q.exec(`select pg_sleep(0.1)`)
		seen = true
	})
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	runOnce(t, w)
	if !seen {
		t.Error("the hook came too late")
	}
}

func TestASlowHookKeepsBackNeitherJobsNorOtherHooks(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	release, completed := make(chan struct{}), make(chan struct{}, 10)
	slow := 0
	shim.On(w.Worker, func(shim.JobReported) {
		<-release
		slow++
	})
	shim.On(w.Worker, func(shim.JobReported) { completed <- struct{}{} })
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	w.start()
	q.add("task", 10)
	for range 10 {
		receive(t, completed)
	}
	close(release)
	w.stop()
	if slow != 10 {
		t.Errorf("the slow hook saw %d of 10", slow)
	}
}

func TestAHookThatPanicsIsLoggedAndCalledAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fail func()
		log  string
	}{
		"panic":             {func() { panic("out of paper") }, "ERROR a hook panicked"},
		"its end by Goexit": {runtime.Goexit, "job completed"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{})
			seen := 0
			shim.On(w.Worker, func(shim.JobReported) {
				seen++
				c.fail()
			})
			w.Handle("task", func(context.Context, *shim.Job) error { return nil })
			q.add("task", 3)
			runOnce(t, w)
			if n := q.jobs(); n != 0 || seen != 3 {
				t.Errorf("%d jobs are left, the hook saw %d", n, seen)
			}
			w.logs.await(t, c.log, "worker_id="+w.ID())
		})
	}
}

func TestAClosedHookIsNotCalledAnyMore(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	seen := 0
	hook := shim.On(w.Worker, func(shim.JobReported) { seen++ })
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	for range 2 {
		q.add("task", 1)
		runOnce(t, w)
		hook.Close()
	}
	if seen != 1 {
		t.Errorf("the hook saw %d jobs", seen)
	}
}
