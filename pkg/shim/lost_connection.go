package shim

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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
		return isDue || when != atBegin && state != "" && !isLostStatement(state) && !isOutage(err)
	}
	if err == nil || ctx.Err() != nil || guard.Ask(false, isOther) {
		return err
	}
	return &lostError{err, when}
}

// isLostConnection reports whether an error is one that pgx and other drivers return when a connection is lost or cannot be opened. Other
// clients return most of these errors, too, but not all.
func isLostConnection(err error) bool {
	if _, isConnect := errors.AsType[*pgconn.ConnectError](err); isConnect || sqlstate.Of(err) != "" {
		return isOutage(err)
	}
	if pgconn.Timeout(err) {
		return false
	}
	if op, isOp := errors.AsType[*net.OpError](err); isOp {
		return op.Op == "read" || op.Op == "write"
	}
	return pgconn.SafeToRetry(err) || slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn},
		func(lost error) bool { return errors.Is(err, lost) })
}

// broken returns how many connections the pool could not open or has given up because they were broken.
func broken(pool *pgxpool.Pool) int64 {
	s := pool.Stat()
	return s.NewConnsCount() - int64(s.TotalConns()) - s.MaxLifetimeDestroyCount() - s.MaxIdleDestroyCount()
}

// watchPool remembers the number of broken connections before a handler is called that may use the pool.
func (e *executor) watchPool(w *Worker) {
	if w != nil && w.pool != nil && e.started.Sub(e.brokenAt) > brokenAge {
		e.broken, e.brokenAt = broken(w.pool), e.started
	}
}

// hasLostConnection reports whether the pool has lost a connection since the handler was called. The pool may still be closing it.
func (e *executor) hasLostConnection(w *Worker) bool {
	if w == nil || w.pool == nil || e.brokenAt.IsZero() {
		return false
	}
	for end := time.Now().Add(closeTime); broken(w.pool) <= e.broken; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// isLost reports whether an attempt has ended with err because a connection was lost; cause is why its context has ended.
func (e *executor) isLost(job *Job, task task, cause, err error) bool {
	when, isKnown := lostWhen(err)
	switch {
	case isKnown && when == atBegin:
		return true
	case isKnown:
	case cause != nil || !guard.Ask(false, func() bool { return isLostConnection(err) }):
		return false
	case job.hold.isCompleting():
	case task.inTx || !e.hasLostConnection(job.worker):
		return false
	}
	return e.losses.add(job.ID) < mostLosses
}

// pause waits after a call that has lost its connection, if the one before it had, too. Meanwhile the job is not claimed again.
func (e *executor) pause() {
	if !e.hasLost && e.lostBefore {
		timer := time.NewTimer(min(e.retry.next(), mostPause))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-e.handling.Done():
		}
	}
	e.hasLost = true
}

// endCall is called after each call of a handler.
func (e *executor) endCall() {
	if !e.hasLost {
		e.retry.reset()
	}
	e.lostBefore, e.hasLost = e.hasLost, false
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
