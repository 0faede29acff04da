package shim

import (
	"sync"
	"sync/atomic"
)

// Subscription is a stream of all events of a worker, starting at [Worker.Subscribe].
type Subscription struct {
	bus     *eventBus
	events  chan Event
	dropped atomic.Int64

	mu     sync.RWMutex // held to close events, and shared to send
	closed bool
}

// Subscribe returns a stream of the worker's events, before, during and after its runs. The worker never waits for the
// reader: if buffer events are unread, further ones are dropped and counted. A busy worker emits four events per job,
// so a buffer of some thousands tolerates a reader that pauses for a moment. A buffer below 1 becomes 1.
//
// Close the subscription when it is no longer needed.
func (w *Worker) Subscribe(buffer int) *Subscription {
	s := &Subscription{bus: &w.events, events: make(chan Event, max(buffer, 1))}
	w.events.add(s)
	return s
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

func (s *Subscription) wants(Event) bool { return true }

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
