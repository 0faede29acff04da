package gwui

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// tellFresh is for how long an answer serves at the least if the panel tells so: sooner, nobody waits for the next.
const tellFresh = 5 * time.Second

// kept tells of when what a panel shows is, and for how long it is kept.
type kept struct {
	At    time.Time
	Cost  time.Duration // how long reading it took
	Fresh time.Duration // for how long it serves
}

// Took tells how long reading it took.
func (k kept) Took() string { return fmt.Sprintf("%.1f s", k.Cost.Seconds()) }

// reading notes what a panel reads: of its answers, the one that took longest.
type reading struct {
	mu      sync.Mutex
	longest kept
}

type readingKey struct{}

// withReading returns a context under which [cached] notes its answers.
func withReading(ctx context.Context) (context.Context, *reading) {
	r := new(reading)
	return context.WithValue(ctx, readingKey{}, r), r
}

func (r *reading) kept() kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.longest
}

// noteAnswer notes an answer for the panel of a context, if there is one.
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
