package gwui

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	leastFresh  = time.Second      // how long an answer is kept, at least
	mostFresh   = time.Minute      // and at most
	costFactor  = 20               // an answer is kept this many times as long as it took
	mostEntries = 1000             // answers that are kept
	loadTimeout = 10 * time.Second // of all that one panel reads
)

// cache keeps the results of the queries of panels, so that any number of viewers cost as much as one, and an expensive panel
// is rarely read: a result that took a second is kept for twenty seconds. So is the error of a panel that timed out.
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

// cached returns the answer under a key, and calls load if there is none. load has a context of its own: if a viewer leaves, or
// a page does not wait, others still get the answer.
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
		case <-e.ready: // an answer that is ready is used
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

// readCached returns the cached answer of a query.
func readCached[T any](ctx context.Context, c *Console, key, query string, args ...any) (answer[T], error) {
	return cached(ctx, c.cache, key, func(ctx context.Context) (answer[T], error) {
		return read[T](ctx, c.store, query, args...)
	})
}

// take returns the entry of a key, and whether the caller has to load it.
func (c *cache) take(key string) (e *entry, isMine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[key]; e != nil && !e.isStale() {
		return e, false
	}
	if len(c.entries) >= mostEntries {
		maps.DeleteFunc(c.entries, func(_ string, e *entry) bool { return e.isStale() })
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

// forget drops all answers, after a change.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// tellFresh is the shortest time for which an answer is kept that a panel shows: for shorter times, users do not have to know.
const tellFresh = 5 * time.Second

// kept contains the time of the content of a panel, and how long it is kept.
type kept struct {
	At    time.Time
	Cost  time.Duration // how long reading it took
	Fresh time.Duration // how long it is kept
}

// Took returns how long reading it took, as text.
func (k kept) Took() string { return fmt.Sprintf("%.1f s", k.Cost.Seconds()) }

// reading records, of the answers that a panel reads, the one that took longest.
type reading struct {
	mu      sync.Mutex
	longest kept
}

type readingKey struct{}

// withReading returns a context in which [cached] records its answers.
func withReading(ctx context.Context) (context.Context, *reading) {
	r := new(reading)
	return context.WithValue(ctx, readingKey{}, r), r
}

func (r *reading) kept() kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.longest
}

// noteAnswer records an answer for the panel of a context, if there is one.
func noteAnswer(ctx context.Context, k kept) {
	r, ok := ctx.Value(readingKey{}).(*reading)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.Cost > r.longest.Cost {
		r.longest = k
	}
}
