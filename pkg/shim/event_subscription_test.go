package shim_test

import (
	"context"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func TestASubscriberThatDoesNotReadLosesEventsAndKeepsNobodyBack(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	deaf, attentive := w.Subscribe(1), w.Subscribe(10000)
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	q.add("task", 50)
	runOnce(t, w)
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	deaf.Close()
	attentive.Close()
	count := func(sub *shim.Subscription) (n int64) {
		for range sub.Events() {
			n++
		}
		return n
	}
	all := count(attentive)
	if attentive.Dropped() != 0 || all < 150 {
		t.Errorf("one who can take all got %d events, %d dropped", all, attentive.Dropped())
	}
	if n := count(deaf); n != 1 || deaf.Dropped() != all-1 {
		t.Errorf("one who can take one got %d events, %d dropped of %d", n, deaf.Dropped(), all)
	}
}

func TestAClosedSubscriptionGetsNothingMore(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	early := w.Subscribe(10000)
	w.Handle("task", func(context.Context, *shim.Job) error {
		early.Close()
		early.Close()
		return nil
	})
	q.add("task", 3)
	runOnce(t, w)
	var started int
	for event := range early.Events() {
		if _, ok := event.(shim.JobStarted); ok {
			started++
		}
	}
	if started != 1 || early.Dropped() != 0 {
		t.Errorf("%d jobs started, %d events dropped", started, early.Dropped())
	}
}
