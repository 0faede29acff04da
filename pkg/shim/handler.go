package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
)

// Handler does the work of one job. Returning nil completes the job; returning an error, or panicking, fails the
// attempt and stores the text in the job's last_error. [Discard], [RetryIn], [Snooze] and [Batch] make errors that say
// more about what is to become of the job.
//
// The context ends when the worker has to leave: its [context.Cause] is then [ErrShutdown], and an error returned after
// that gives the job back with this attempt not counted, unless it is a [SnoozeError], or a [BatchError] of which some
// elements are done. It also ends when the time of the task is over ([TimeoutError]), when somebody cancels the job
// ([ErrCanceled]: an error returned after that fails it for good), or when the job is not the worker's any more
// ([ErrLeaseLost]).
type Handler func(ctx context.Context, job *Job) error

// Handle registers fn for a task and decodes each job's JSON payload into a T. A payload that does not fit T fails the
// attempt. Like [Worker.Handle] it must be called before the worker runs.
func Handle[T any](w *Worker, task string, fn func(ctx context.Context, payload T, job *Job) error, options ...TaskOption) {
	w.Handle(task, Typed(fn), options...)
}

// Typed returns the handler that [Handle] registers; nil of nil. Tests of handlers may use it.
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

// errExited is what is left of a handler that called runtime.Goexit, as t.FailNow does.
var errExited = errors.New("handler ended its goroutine instead of returning")

// recovered calls fn. A panic becomes an error with its stack.
func recovered(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n\n%s", v, debug.Stack())
		}
	}()
	return fn()
}
