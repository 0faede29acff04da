package connection

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// remindEvery is the interval between log lines while the database cannot be reached.
const remindEvery = time.Minute

// Outage logs that the database cannot be reached: at the start, once a minute while it lasts, and at the end. All
// loops of a worker share one outage, so that not every loop logs every attempt.
type Outage struct {
	Logger     *slog.Logger
	Gone, Back string // the messages

	mu            sync.Mutex
	since, logged time.Time // zero without an outage
}

// Found is called with each error of a lost connection or a failed connection attempt.
func (o *Outage) Found(err error) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() {
		o.since = now
	}
	if now.Sub(o.logged) < remindEvery {
		return
	}
	o.logged = now
	o.Logger.Warn(o.Gone, "error", err)
}

// Over is called when the database has answered a call that began at a time, or when a connection was opened.
func (o *Outage) Over(began time.Time) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || began.Before(o.since) { // the answer may be older than the outage
		return
	}
	o.Logger.Info(o.Back, "lasted", time.Since(o.since).Round(time.Millisecond).String())
	o.since, o.logged = time.Time{}, time.Time{}
}

// Lasts reports whether the database cannot be reached now.
func (o *Outage) Lasts() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero()
}

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
func (b *Backoff) Wait(ctx context.Context) bool { return sleep(ctx, b.Next()) }

// sleep waits for d; it returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
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
