package shim

// On calls fn with every further event of type E; with E = [Event], with every event. The calls are made in a goroutine
// of their own, one after the other and in order. [Worker.Run] and [Worker.RunOnce] return after the calls for all
// events, but wait at most five seconds for them.
//
// A slow fn delays only itself: when 10 000 events are waiting for it, further ones are dropped and counted. If fn
// panics, the panic is logged, and fn is called with the next event. fn may call [Worker.Kill], but must not wait for
// the worker to stop.
func On[E Event](w *Worker, fn func(E)) *Hook {
	h := &Hook{
		bus:    &w.events,
		isMine: func(e Event) bool { _, ok := e.(E); return ok },
		call:   func(e Event) { fn(e.(E)) },
		logger: w.ownLogger(),
	}
	w.events.add(h)
	return h
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
