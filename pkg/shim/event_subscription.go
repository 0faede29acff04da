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
