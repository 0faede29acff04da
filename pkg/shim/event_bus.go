package shim

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// eventBus passes events to its listeners without waiting for any. Its zero value is ready for use; a nil eventBus has
// no listeners.
type eventBus struct {
	mu        sync.Mutex                      // held to change listeners
	listeners atomic.Pointer[[]eventListener] // nil or empty without listeners; replaced, never changed
}

type eventListener interface {
	offer(Event) // must not block; the listener may not want it
}

// emit is a function instead of a method so that the conversion of an event to an interface, which allocates, happens
// only if there are listeners.
func emit[E Event](b *eventBus, e E) {
	if b == nil {
		return
	}
	listeners := b.listeners.Load()
	if listeners == nil || len(*listeners) == 0 {
		return
	}
	var event Event = e
	for _, l := range *listeners {
		l.offer(event)
	}
}

func (b *eventBus) add(l eventListener) {
	b.change(func(listeners []eventListener) []eventListener { return append(listeners, l) })
}

func (b *eventBus) remove(l eventListener) {
	b.change(func(listeners []eventListener) []eventListener {
		return slices.DeleteFunc(listeners, func(other eventListener) bool { return other == l })
	})
}

func (b *eventBus) change(change func([]eventListener) []eventListener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := change(b.all())
	b.listeners.Store(&changed)
}

func (b *eventBus) all() []eventListener {
	if listeners := b.listeners.Load(); listeners != nil {
		return slices.Clone(*listeners)
	}
	return nil
}

// Subscription is a stream of all events of a worker, starting at [Worker.Subscribe].
type Subscription struct {
	bus     *eventBus
	events  chan Event
	dropped atomic.Int64

	mu     sync.RWMutex // held to close events, and shared to send
	closed bool
}

// Events returns the channel to read from. Only Close closes it.
func (s *Subscription) Events() <-chan Event { return s.events }

// Dropped returns how many events were dropped because the buffer was full.
func (s *Subscription) Dropped() int64 { return s.dropped.Load() }

// Close ends the subscription. Events in the buffer can still be read.
func (s *Subscription) Close() {
	s.bus.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.events)
	}
}

func (s *Subscription) offer(e Event) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return
	}
	select {
	case s.events <- e:
	default:
		s.dropped.Add(1)
	}
}

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

func (h *Hook) offer(e Event) {
	if !h.isMine(e) {
		return
	}
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
