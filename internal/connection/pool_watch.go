package connection

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// mostPause limits the pause between calls that lose their connections.
	mostPause = time.Second
	// brokenAge limits the age of the number of broken connections of the pool that an attempt begins with.
	brokenAge = 100 * time.Millisecond
	// closeTime is how long the worker waits until the pool has given up a broken connection.
	closeTime = time.Second
)

// broken returns how many connections the pool could not open or has given up because they were broken.
func broken(pool *pgxpool.Pool) int64 {
	s := pool.Stat()
	return s.NewConnsCount() - int64(s.TotalConns()) - s.MaxLifetimeDestroyCount() - s.MaxIdleDestroyCount()
}

// PoolWatch knows whether the pool has lost connections while a handler ran that may use it.
type PoolWatch struct {
	pool                *pgxpool.Pool // nil before the first call
	broken              int64         // connections that the pool had lost at a time shortly before the call
	brokenAt            time.Time
	hasLost, lostBefore bool // this call and the one before it have lost their connections
	retry               Backoff
}

// Begin is called before a handler.
func (p *PoolWatch) Begin(pool *pgxpool.Pool, now time.Time) {
	if pool != nil && now.Sub(p.brokenAt) > brokenAge {
		p.pool, p.broken, p.brokenAt = pool, broken(pool), now
	}
}

// HasLost reports whether the pool has lost a connection since the handler was called. The pool may still be closing
// it.
func (p *PoolWatch) HasLost() bool {
	if p.pool == nil {
		return false
	}
	for end := time.Now().Add(closeTime); broken(p.pool) <= p.broken; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Pause waits after a call that has lost its connection, if the one before it had, too. Meanwhile the job is not
// claimed again.
func (p *PoolWatch) Pause(handling context.Context) {
	if !p.hasLost && p.lostBefore {
		timer := time.NewTimer(min(p.retry.Next(), mostPause))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-handling.Done():
		}
	}
	p.hasLost = true
}

// End is called after each call of a handler.
func (p *PoolWatch) End() {
	if !p.hasLost {
		p.retry.Reset()
	}
	p.lostBefore, p.hasLost = p.hasLost, false
}
