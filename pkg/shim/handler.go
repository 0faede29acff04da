package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/gwsql/gw/internal/guard"
)

// Handler runs one job. Returning nil completes the job; returning an error, or panicking, fails the attempt and stores
// the error text in the job's last_error. [Discard], [RetryIn], [Snooze], [RateLimited] and [Batch] return errors that
// set another outcome. The job is the handler's own copy: what the handler changes in it does not reach the outcome.
//
// The context ends when the worker has to stop: its [context.Cause] is then [ErrShutdown], and an error returned after
// that returns the job to the queue without counting the attempt, unless it is a [SnoozeError], a [RateLimitedError],
// or a [BatchError] with completed elements. The context also ends when the timeout of the task is over
// ([TimeoutError]), when the job is canceled ([ErrCanceled]: an error returned after that fails the job permanently),
// or when the worker has lost the job ([ErrLeaseLost]).
//
// A lost connection to the database of the queue is not the handler's fault: the attempt does not count, and the job is
// returned and runs again, unless the database says that a transaction of the handler has completed it. That holds for
// an error, which may be wrapped, that pgx or database/sql returns for a connection that was lost or could not be
// opened,
//   - if the connection is one of the pool that [New] was given: of [Job.WithConn], or of the pool itself;
//   - or if the handler has completed the job by [Job.CompleteTx], [Job.CompleteSQLTx] or a [Completion], on whatever connection.
//
// In other cases such an error fails the attempt, as one of another service does. So does a timeout. A job that loses
// its connection ten times in a row may be the cause: then the attempt fails, too.
type Handler func(ctx context.Context, job *Job) error

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

func (h Handler) call(ctx context.Context, jobs []*Job, errs []error) {
	errs[0] = h(jobs[0].within(ctx), jobs[0].shown())
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

// Middleware wraps a handler to do something around each job: to count it, to trace it, to give it a transaction. It
// receives the job, and the error that determines the outcome, which [OutcomeOf] interprets; it may return another
// error. Typed handlers decode their payload inside, so an invalid payload is also an error that middleware receives. A
// panic of the handler passes through the middleware; if nothing recovers it, it fails the job and is stored with its
// stack.
//
// Middleware runs in the goroutine and under the context of the handler.
type Middleware func(next Handler) Handler

// wrapped returns h wrapped by all of these middlewares, the first being the outermost.
func (h Handler) wrapped(middleware []Middleware) (Handler, error) {
	for i := len(middleware) - 1; i >= 0; i-- {
		if h = middleware[i](h); h == nil {
			return nil, errors.New("a middleware returned no handler")
		}
	}
	return h, nil
}

// ManyHandler runs several jobs of one task at once, and returns for each of them, at the same index, what a [Handler]
// would return; nil means that all are completed. A panic fails all of them.
//
// The context ends as that of a [Handler] does when the worker has to stop or when the timeout of the task, which
// applies to the whole call, is over. The cancellation or loss of a job ends the context only if it is the only job of
// the call; with several jobs the context carries no job.
type ManyHandler func(ctx context.Context, jobs []*Job) []error

func (h ManyHandler) wrapped(middleware []Middleware) (ManyHandler, error) {
	if len(middleware) == 0 {
		return h, nil
	}
	if _, err := Handler(func(context.Context, *Job) error { return nil }).wrapped(middleware); err != nil {
		return nil, err
	}
	return func(ctx context.Context, jobs []*Job) []error { return h.callWithin(ctx, middleware, jobs) }, nil
}

// callWithin calls h within the middleware of each of the jobs, for those that the middleware passes on.
func (h ManyHandler) callWithin(ctx context.Context, middleware []Middleware, jobs []*Job) []error {
	errs := make([]error, len(jobs))
	var passed []int // the indexes of these jobs
	var from func(i int)
	from = func(i int) {
		if i == len(jobs) {
			h.callFor(ctx, jobs, passed, errs)
			return
		}
		let := false
		handler, err := Handler(func(context.Context, *Job) error {
			if let {
				return errors.New("the handler of several jobs cannot be called again for one of them")
			}
			let = true
			passed = append(passed, i)
			from(i + 1)
			return errs[i]
		}).wrapped(middleware)
		if err == nil {
			err = handler(jobs[i].within(ContextWithJob(ctx, jobs[i])), jobs[i])
		}
		if errs[i] = err; !let {
			from(i + 1)
		}
	}
	from(0)
	return errs
}

// callFor calls h for the jobs with these indexes, if there are any.
func (h ManyHandler) callFor(ctx context.Context, all []*Job, indexes []int, errs []error) {
	var jobs []*Job
	for _, i := range indexes {
		jobs = append(jobs, all[i])
	}
	if len(jobs) == 0 {
		return
	}
	for at, err := range errorsOf(h(ctx, jobs), len(jobs)) {
		errs[indexes[at]] = err
	}
}

func (h ManyHandler) call(ctx context.Context, jobs []*Job, errs []error) {
	copy(errs, errorsOf(h(ctx, shown(jobs)), len(jobs)))
}

// errorsOf returns an error for each of n jobs, whatever the handler has returned.
func errorsOf(errs []error, n int) []error {
	switch {
	case len(errs) == n:
		return errs
	case errs == nil:
		return make([]error, n)
	}
	return slices.Repeat([]error{fmt.Errorf("handler returned %d errors for %d jobs", len(errs), n)}, n)
}
