package gwui

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	leastFresh  = time.Second      // for how long an answer serves further requests, at the least
	mostFresh   = time.Minute      // and at the most
	costFactor  = 20               // how many times as long as it took
	mostEntries = 1000             // answers that are kept
	loadTimeout = 10 * time.Second // of all that one panel reads
)

// cache keeps what panels have read, so that any number of viewers cost what one does, and an expensive panel is read
// seldom: an answer that took a second serves for twenty. So does the error of a panel that ran out of time.
type cache struct {
	mu      sync.Mutex
	entries map[string]*entry
}

// entry is an answer, or one that is being loaded: until ready is closed, its other fields belong to the loader.
type entry struct {
	ready chan struct{}
	kept
	value any
	err   error
}

func newCache() *cache { return &cache{entries: make(map[string]*entry)} }

// cached returns the answer under a key, loaded by load unless there is one. Its context is its own: a viewer who leaves, or a
// page that does not wait, does not take the answer from others.
func cached[T any](ctx context.Context, c *cache, key string, load func(context.Context) (T, error)) (T, error) {
	e, isMine := c.take(key)
	if isMine {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
			defer cancel()
			defer close(e.ready)
			defer func() {
				if p := recover(); p != nil {
					e.err = fmt.Errorf("panic: %v", p)
				}
			}()
			began := time.Now()
			e.value, e.err = load(ctx)
			e.At = time.Now()
			e.Cost = e.At.Sub(began)
			e.Fresh = min(max(leastFresh, costFactor*e.Cost), mostFresh)
			if e.err != nil && sqlstate.Of(e.err) != queryCanceled {
				e.Fresh = leastFresh // it may work again at once, as after a restart of the database
			}
		}()
	}
	var none T
	select {
	case <-e.ready:
	case <-ctx.Done():
		select {
		case <-e.ready: // what is there is taken
		default:
			return none, context.Cause(ctx)
		}
	}
	noteAnswer(ctx, e.kept)
	value, ok := e.value.(T)
	if e.err != nil || !ok {
		return none, e.err
	}
	return value, nil
}

// take returns the entry of a key, and whether the caller has to load it.
func (c *cache) take(key string) (e *entry, isMine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[key]; e != nil && !e.isStale() {
		return e, false
	}
	if len(c.entries) >= mostEntries {
		for other, e := range c.entries {
			if e.isStale() {
				delete(c.entries, other)
			}
		}
	}
	e = &entry{ready: make(chan struct{})}
	if len(c.entries) < mostEntries {
		c.entries[key] = e
	}
	return e, true
}

// isStale reports whether the answer is there and is too old.
func (e *entry) isStale() bool {
	select {
	case <-e.ready:
		return time.Since(e.At) > e.Fresh
	default:
		return false
	}
}

// forget drops all answers: something has been changed.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}
