package shim

import (
	"slices"
	"sync"
	"sync/atomic"
)

// eventBus passes events to whoever listens, and waits for none of them. Its zero value is ready; of nil it is one that
// nobody listens to.
type eventBus struct {
	mu        sync.Mutex                      // held to change listeners
	listeners atomic.Pointer[[]eventListener] // nil or empty while nobody listens; never changed, only replaced
}

type eventListener interface {
	wants(Event) bool
	offer(Event) // must not block
}

// emit is a function and not a method so that an event becomes an interface, which costs an allocation, only if somebody
// listens.
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
		if l.wants(event) {
			l.offer(event)
		}
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

// all returns a copy of the listeners.
func (b *eventBus) all() []eventListener {
	if listeners := b.listeners.Load(); listeners != nil {
		return slices.Clone(*listeners)
	}
	return nil
}
