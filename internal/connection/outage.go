package connection

import (
	"log/slog"
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
