package gwui

import (
	"context"
	"fmt"
	"sync"
	"time"
)

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
