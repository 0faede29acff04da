package shim

import (
	"slices"
	"sync"
	"sync/atomic"
)

// eventBus passes events to its listeners without waiting for any. Its zero value is ready for use; a nil eventBus has
// no listeners.
type eventBus struct {
	mu        sync.Mutex                      // held to change listeners
	listeners atomic.Pointer[[]eventListener] // nil or empty without listeners; replaced, never changed
}

type eventListener interface {
	wants(Event) bool
	offer(Event) // must not block
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
