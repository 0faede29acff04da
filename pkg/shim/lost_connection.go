package shim

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/sqlstate"
)

// An attempt that ends because a connection to the database was lost is not the job's fault. It does not count: the
// worker returns the job, and learns from the answer whether a transaction of the handler had completed it.

// mostLosses is how often in a row a job may lose the connection that it has. After that the job is taken for the
// cause, as one is whose function crashes the server, and its attempts fail.
const mostLosses = 10

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

// asLost returns the error of a connection that is closed or could not be had as a lostError, unless the end of ctx or
// of another context of the handler has closed it, or what the server said before it ended the session. A session
// without its prepared statements is not the handler's.
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
