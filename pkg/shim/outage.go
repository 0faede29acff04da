package shim

import (
	"log/slog"
	"sync"
	"time"
)

// remindEvery is the interval between log lines while the database cannot be reached.
const remindEvery = time.Minute

// outage logs that the database cannot be reached: at the start, once a minute while it lasts, and at the end. All
// loops of a worker share one outage, so that not every loop logs every attempt.
type outage struct {
	logger     *slog.Logger
	gone, back string // the messages

	mu            sync.Mutex
	since, logged time.Time // zero without an outage
}

// found is called with each error of a lost connection or a failed connection attempt.
func (o *outage) found(err error) {
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
	o.logger.Warn(o.gone, "error", err)
}

// over is called when the database has answered a call that began at a time, or when a connection was opened.
func (o *outage) over(began time.Time) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || began.Before(o.since) { // the answer may be older than the outage
		return
	}
	o.logger.Info(o.back, "lasted", time.Since(o.since).Round(time.Millisecond).String())
	o.since, o.logged = time.Time{}, time.Time{}
}

func (o *outage) lasts() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero()
}
