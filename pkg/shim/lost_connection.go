package shim

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/sqlstate"
)

// An attempt that ends because a connection to the database was lost is not the job's fault. It does not count: the worker returns the
// job, and learns from the answer whether a transaction of the handler had completed it.

const (
	// mostLosses is how often in a row a job may lose the connection that it has. After that the job is taken for the cause, as one is
	// whose function crashes the server, and its attempts fail.
	mostLosses = 10
	// mostPause limits the pause between calls that lose their connections.
	mostPause = time.Second
	// brokenAge limits the age of the number of broken connections of the pool that an attempt begins with.
	brokenAge = 100 * time.Millisecond
	// closeTime is how long the worker waits until the pool has given up a broken connection.
	closeTime = time.Second
)

// lostError is the error of a connection that was lost or could not be had.
type lostError struct {
	error
	when lossTime
}

type lossTime int

const (
	atBegin      lossTime = iota // the job has not got the connection
	inStatement                  // of the handler
	atCompletion                 // or at the commit, so that the job may be completed
)

func (e *lostError) Unwrap() error { return e.error }

// lostWhen returns when the connection was lost, if err says that one was.
func lostWhen(err error) (when lossTime, isLost bool) {
	lost, isLost := guard.As[*lostError](err)
	if isLost {
		when = lost.when
	}
	return when, isLost
}

// asLost returns the error of a connection that is closed or could not be had as a lostError, unless the end of ctx or of another context of
// the handler has closed it, or what the server said before it ended the session. A session without its prepared statements is not the
// handler's.
func asLost(ctx context.Context, err error, when lossTime) error {
	isOther := func() bool {
		isDue := pgconn.Timeout(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		state := sqlstate.Of(err)
		return isDue || when != atBegin && state != "" && !connection.IsLostStatement(state) && !sqlstate.IsOutage(err)
	}
	if err == nil || ctx.Err() != nil || guard.Ask(false, isOther) {
		return err
	}
	return &lostError{err, when}
}

// brokenConnections returns how many connections the pool could not open or has given up because they were broken.
func brokenConnections(pool *pgxpool.Pool) int64 {
	s := pool.Stat()
	return s.NewConnsCount() - int64(s.TotalConns()) - s.MaxLifetimeDestroyCount() - s.MaxIdleDestroyCount()
}

// poolWatch knows whether the pool has lost connections while a handler ran that may use it.
type poolWatch struct {
	broken              int64 // connections that the pool had lost at a time shortly before the call
	brokenAt            time.Time
	hasLost, lostBefore bool // this call and the one before it have lost their connections
	retry               backoff
}

// begin is called before a handler.
func (p *poolWatch) begin(w *host, now time.Time) {
	if w != nil && w.pool != nil && now.Sub(p.brokenAt) > brokenAge {
		p.broken, p.brokenAt = brokenConnections(w.pool), now
	}
}

// hasLostConnection reports whether the pool has lost a connection since the handler was called. The pool may still be closing it.
func (p *poolWatch) hasLostConnection(w *host) bool {
	if w == nil || w.pool == nil || p.brokenAt.IsZero() {
		return false
	}
	for end := time.Now().Add(closeTime); brokenConnections(w.pool) <= p.broken; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// pause waits after a call that has lost its connection, if the one before it had, too. Meanwhile the job is not claimed again.
func (p *poolWatch) pause(handling context.Context) {
	if !p.hasLost && p.lostBefore {
		timer := time.NewTimer(min(p.retry.next(), mostPause))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-handling.Done():
		}
	}
	p.hasLost = true
}

// end is called after each call of a handler.
func (p *poolWatch) end() {
	if !p.hasLost {
		p.retry.reset()
	}
	p.lostBefore, p.hasLost = p.hasLost, false
}

// losses counts for some jobs how often in a row they have lost their connections.
type losses struct {
	size atomic.Int64
	mu   sync.Mutex
	of   map[int64]int
}

func (l *losses) add(job int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) >= maxUnwritten {
		l.of = make(map[int64]int)
	}
	l.of[job]++
	l.size.Store(int64(len(l.of)))
	return l.of[job]
}

// haveAny reports whether one of these jobs has lost its last connection.
func (l *losses) haveAny(jobs []*Job) bool {
	if l.size.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(jobs, func(job *Job) bool { return l.of[job.ID] > 0 })
}

// forget is called when an attempt has ended otherwise.
func (l *losses) forget(job int64) {
	if l.size.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, job)
	l.size.Store(int64(len(l.of)))
}
