package shim

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

const (
	// maxPending is the number of events that may wait for a hook.
	maxPending = 10000
	// hooksTime is how long a run waits until hooks have received its last events.
	hooksTime = 5 * time.Second
)

// Hook is a function that is called with every event of one type. Create it with [On].
type Hook struct {
	bus     *eventBus
	isMine  func(Event) bool
	call    func(Event)
	logger  *slog.Logger
	dropped atomic.Int64

	mu      sync.Mutex
	pending []Event
	idle    chan struct{} // closed when no event is pending; nil while there is none
}

// Dropped returns how many events were dropped because too many were waiting.
func (h *Hook) Dropped() int64 { return h.dropped.Load() }

// Close removes the hook. Events that are waiting for it are still delivered.
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

// deliver ends when no event is pending, so an idle hook has no goroutine.
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
			h.logger.Error("a hook panicked", "event", fmt.Sprintf("%T", e), "error", guard.Value(v), "stack",
				string(debug.Stack()))
		}
	}()
	h.call(e)
}

// busy returns a channel that is closed when no event is pending, nil if there is none.
func (h *Hook) busy() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.idle
}

// awaitHooks waits until the hooks have received all events so far, or ctx ends.
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
