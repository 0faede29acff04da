package shim

import (
	"runtime"
	"testing"
	"time"
)

func TestAnEventThatNobodyWantsCostsNoAllocation(t *testing.T) {
	w := &Worker{}
	job := &Job{}
	emitOne := func() { emit(&w.events, JobReported{Job: job, Outcome: OutcomeCompleted, Duration: time.Second}) }
	if n := testing.AllocsPerRun(100, emitOne); n != 0 {
		t.Errorf("%v allocations", n)
	}
	sub := w.Subscribe(1)
	if n := testing.AllocsPerRun(100, emitOne); n == 0 {
		t.Error("the measurement sees no allocation at all")
	}
	sub.Close()
	if n := testing.AllocsPerRun(100, emitOne); n != 0 {
		t.Errorf("%v allocations after the only subscription was closed", n)
	}
}

func TestAHookHoldsNoMoreEventsThanItMay(t *testing.T) {
	release := make(chan struct{})
	h := &Hook{bus: &eventBus{}, isMine: func(Event) bool { return true }, call: func(Event) { <-release }}
	const extra = 50
	h.offer(StopRequested{})
	for h.busy() != nil { // until the first is being delivered
		h.mu.Lock()
		pending := len(h.pending)
		h.mu.Unlock()
		if pending == 0 {
			break
		}
		runtime.Gosched()
	}
	for range maxPending + extra {
		h.offer(StopRequested{})
	}
	if n := h.Dropped(); n != extra {
		t.Errorf("%d events were dropped, want %d", n, extra)
	}
	close(release)
	if idle := h.busy(); idle != nil {
		<-idle
	}
}

func TestASubscriptionMayBeClosedWhileEventsCome(t *testing.T) {
	w := &Worker{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			w.Subscribe(1).Close()
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			emit(&w.events, StopRequested{})
		}
	}
}
