package shim

import (
	"runtime"
	"sync"
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

// A subscription that is closed gets no more events, and takes none from one that stays.
func TestASubscriptionMayBeClosedWhileEventsCome(t *testing.T) {
	const churners, rounds = 4, 3000
	w := &Worker{}
	stays := w.Subscribe(1 << 20)
	var closing sync.WaitGroup
	for range churners {
		closing.Go(func() {
			for range rounds {
				sub := w.Subscribe(1)
				sub.Close()
				for range sub.Events() { // ends, for the channel is closed
				}
				if _, open := <-sub.Events(); open {
					t.Error("an event came after the end")
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		closing.Wait()
		close(done)
	}()
	emitted := 0
	for over := false; !over && emitted < cap(stays.Events()); emitted++ {
		select {
		case <-done:
			over = true
		default:
		}
		emit(&w.events, ShutdownStarted{Grace: time.Duration(emitted)})
		runtime.Gosched() // to those that subscribe
	}
	<-done
	if left := w.events.all(); len(left) != 1 {
		t.Errorf("%d listeners are left, want the one that stays", len(left))
	}
	stays.Close()
	seen := 0
	for event := range stays.Events() {
		if at := event.(ShutdownStarted).Grace; at != time.Duration(seen) {
			t.Fatalf("event %d came in place of event %d", at, seen)
		}
		seen++
	}
	if seen != emitted || stays.Dropped() != 0 {
		t.Errorf("the one that stays has seen %d of %d events, %d were dropped", seen, emitted, stays.Dropped())
	}
}
