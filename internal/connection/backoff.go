package connection

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstRetryDelay = 100 * time.Millisecond
	lastRetryDelay  = 5 * time.Second
)

// Backoff spaces the attempts to reach the database: 0.1 s, doubled each time up to 5 s. Each wait is a random time
// between half and all of that, so that the workers of a fleet do not reconnect at the same time. The ceiling is how
// long a worker stays away after the database is back. Its zero value is ready for use.
type Backoff struct{ ceiling time.Duration }

// Next returns the time until the next attempt.
func (b *Backoff) Next() time.Duration {
	b.ceiling = min(max(2*b.ceiling, firstRetryDelay), lastRetryDelay)
	return b.ceiling/2 + rand.N(b.ceiling/2+1)
}

// Reset is called after a success.
func (b *Backoff) Reset() { b.ceiling = 0 }

// Wait waits for the next attempt; it returns false if ctx ended first.
func (b *Backoff) Wait(ctx context.Context) bool {
	timer := time.NewTimer(b.Next())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Jittered returns d plus or minus up to a tenth.
func Jittered(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}
