package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gwsql/gw/internal/guard"
)

// Handler runs one job. Returning nil completes the job; returning an error, or panicking, fails the attempt and stores
// the error text in the job's last_error. [Discard], [RetryIn], [Snooze], [RateLimited] and [Batch] return errors that set
// another outcome. The job is the handler's own copy: what the handler changes in it does not reach the outcome.
//
// The context ends when the worker has to stop: its [context.Cause] is then [ErrShutdown], and an error returned after
// that returns the job to the queue without counting the attempt, unless it is a [SnoozeError], a [RateLimitedError], or
// a [BatchError] with completed elements. The context also ends when the timeout of the task is over ([TimeoutError]), when the job is
// canceled ([ErrCanceled]: an error returned after that fails the job permanently), or when the worker has lost the job
// ([ErrLeaseLost]).
//
// A lost connection to the database of the queue is not the handler's fault: the attempt does not count, and the job is returned and
// runs again, unless the database says that a transaction of the handler has completed it. That holds for an error, which may be
// wrapped, that pgx or database/sql returns for a connection that was lost or could not be opened,
//   - if the connection is one of the pool that [New] was given: of [Job.WithConn], or of the pool itself;
//   - or if the handler has completed the job by [Job.CompleteTx], [Job.CompleteSQLTx] or a [Completion], on whatever connection.
//
// In other cases such an error fails the attempt, as one of another service does. So does a timeout. A job that loses its connection ten
// times in a row may be the cause: then the attempt fails, too.
type Handler func(ctx context.Context, job *Job) error

// Handle registers fn for a task and decodes each job's JSON payload into a T. A payload that cannot be decoded fails
// the attempt. Like [Worker.Handle], Handle must be called before the worker runs.
func Handle[T any](w *Worker, task string, fn func(ctx context.Context, payload T, job *Job) error, options ...TaskOption) {
	w.Handle(task, Typed(fn), options...)
}

// Typed returns the handler that [Handle] registers, or nil if fn is nil. It is meant for tests of handlers.
func Typed[T any](fn func(ctx context.Context, payload T, job *Job) error) Handler {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, job *Job) error {
		var payload T
		if err := json.Unmarshal(job.Payload, &payload); err != nil {
			return fmt.Errorf("decode payload: %w", err)
		}
		return fn(ctx, payload, job)
	}
}

// errExited is the result of a handler that called runtime.Goexit, as t.FailNow does.
var errExited = errors.New("handler ended its goroutine instead of returning")

// recovered calls fn. A panic becomes an error with its stack.
func recovered(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n\n%s", guard.Value(v), debug.Stack())
		}
	}()
	return fn()
}
