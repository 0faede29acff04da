package shim

import (
	"errors"
	"fmt"
	"time"
)

// TaskOption is something that holds for all jobs of one task. It is given where the task's handler is registered.
type TaskOption func(*task) error

// task is a handler with its options.
type task struct {
	handler Handler
	many    ManyHandler                     // in place of handler
	most    int                             // jobs for one call of many
	timeout time.Duration                   // 0 without
	limit   int                             // how many run at once, 0 for as many as the worker runs
	backoff func(attempt int) time.Duration // nil for the database's

	forbidden forbiddenFlags
}

// Timeout ends the context of a handler when it has run for so long. The [context.Cause] is then a [TimeoutError], and an
// error that the handler returns after that is stored with a note on it; a handler that does not mind its context goes
// on. Default: none. It must be positive. Give one to all tasks that wait for others, such as a mail server.
func Timeout(d time.Duration) TaskOption {
	return func(t *task) error {
		if d <= 0 {
			return fmt.Errorf("timeout is %s, must be positive", d)
		}
		t.timeout = d
		return nil
	}
}

// Backoff has the jobs of a task tried again after the delay that delay returns, in place of the back-off of the
// database, which is e^attempt seconds up to e^10 (six hours). It is called with the number of the attempt that failed,
// from 1, from several goroutines at once. A negative delay is 0; a panic leaves it to the database. An error that is a
// [RetryError] goes before it.
func Backoff(delay func(attempt int) time.Duration) TaskOption {
	return func(t *task) error {
		if delay == nil {
			return errors.New("back-off is nil")
		}
		t.backoff = delay
		return nil
	}
}

// Concurrency bounds how many jobs of a task this worker runs at once, below Config.Concurrency: so that they leave some of
// its executors to other tasks, or spare what they all use. Jobs beyond that stay in the queue, where other workers find
// them. Default: no bound of its own. It must be at least 1. For a bound on all workers together use a named queue.
func Concurrency(most int) TaskOption {
	return func(t *task) error {
		if most < 1 {
			return fmt.Errorf("concurrency is %d, must be at least 1", most)
		}
		t.limit = most
		return nil
	}
}

// TimeoutError is the [context.Cause] of a handler's context that ended because of [Timeout].
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("timed out after %s", e.After) }
