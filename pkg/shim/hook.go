package shim

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPending is how many events may wait for a hook.
	maxPending = 10000
	// hooksTime is how long a run waits for hooks to have seen its last events.
	hooksTime = 5 * time.Second
)

// Hook is a function that is called with every event of one kind. Make it with [On].
type Hook struct {
	bus     *eventBus
	isMine  func(Event) bool
	call    func(Event)
	logger  *slog.Logger
	dropped atomic.Int64

	mu      sync.Mutex
	pending []Event
	idle    chan struct{} // closed when nothing is pending any more; nil while there is nothing
}

// On has fn called with every event of type E from now on; with E = [Event], with every event there is. It is called in
// a goroutine of its own, with one event after the other, in order. [Worker.Run] and [Worker.RunOnce] return when that is
// done for all events, but wait at most five seconds for it.
//
// A slow fn keeps back nobody but itself: when 10 000 events wait for it, further ones are dropped and counted. If fn
// panics, that is logged, and it is called with the next event. It may call [Worker.Kill], but must not wait for the
// worker to stop.
func On[E Event](w *Worker, fn func(E)) *Hook {
	h := &Hook{
		bus:    &w.events,
		isMine: func(e Event) bool { _, ok := e.(E); return ok },
		call:   func(e Event) { fn(e.(E)) },
		logger: w.logger(),
	}
	w.events.add(h)
	return h
}

// Dropped returns how many events were dropped because too many waited.
func (h *Hook) Dropped() int64 { return h.dropped.Load() }

// Close takes the hook away. Events that wait for it are still delivered.
func (h *Hook) Close() { h.bus.remove(h) }

func (h *Hook) wants(e Event) bool { return h.isMine(e) }

func (h *Hook) offer(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pending) >= maxPending {
		h.dropped.Add(1)
		return
	}
	h.pending = append(h.pending, e)
	if h.idle == nil {
		h.idle = make(chan struct{})
		go h.deliver()
	}
}

// deliver ends when nothing is pending, so that a hook that has nothing to do has no goroutine either.
func (h *Hook) deliver() {
	done := false
	defer func() {
		if !done { // fn called runtime.Goexit
			go h.deliver()
		}
	}()
	for {
		h.mu.Lock()
		if len(h.pending) == 0 {
			close(h.idle)
			h.idle, h.pending = nil, nil
			h.mu.Unlock()
			done = true
			return
		}
		e := h.pending[0]
		h.pending[0] = nil
		h.pending = h.pending[1:]
		h.mu.Unlock()
		h.deliverOne(e)
	}
}

func (h *Hook) deliverOne(e Event) {
	defer func() {
		if v := recover(); v != nil {
			h.logger.Error("a hook panicked", "event", fmt.Sprintf("%T", e), "error", v, "stack", string(debug.Stack()))
		}
	}()
	h.call(e)
}

// busy returns a channel that is closed when nothing is pending any more, nil if nothing is.
func (h *Hook) busy() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.idle
}

// awaitHooks waits until the hooks have seen all events so far, or ctx ends.
func (b *eventBus) awaitHooks(ctx context.Context) {
	for _, l := range b.all() {
		hook, isHook := l.(*Hook)
		if !isHook {
			continue
		}
		if idle := hook.busy(); idle != nil {
			select {
			case <-idle:
			case <-ctx.Done():
				return
			}
		}
	}
}
