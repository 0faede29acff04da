package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// TaskOption is an option for all jobs of one task. It is given where the task's handler is registered.
type TaskOption func(*taskEntry) error

// taskEntry is a handler with its options.
type taskEntry struct {
	call     handlerCall
	together ManyHandler                     // in place of call: the handler of several jobs in one transaction
	most     int                             // jobs for one call, 0 for one
	timeout  time.Duration                   // 0 without
	limit    int                             // how many run at once, 0 for the worker's concurrency
	backoff  func(attempt int) time.Duration // nil for the database's

	inTx bool // the handler is given a transaction

	forbidden forbiddenFlags
}

// handlerCall calls a handler and stores what it returns for each of the jobs.
type handlerCall func(ctx context.Context, jobs []*Job, errs []error)

// Timeout ends the context of a handler that has run for d. The [context.Cause] is then a [TimeoutError], and an error
// that the handler returns after that is stored with a note about it. A handler that ignores its context continues.
// Default: none. The timeout must be positive. Set one for all tasks that wait for other systems, such as a mail
// server.
func Timeout(d time.Duration) TaskOption {
	return func(t *taskEntry) error {
		if d <= 0 {
			return fmt.Errorf("timeout is %s, must be positive", d)
		}
		t.timeout = d
		return nil
	}
}

// Backoff sets the delay before a failed job of the task is tried again, in place of the database's back-off, which is
// e^attempt seconds up to e^10 (six hours). delay is called with the number of the failed attempt, from 1, and from
// several goroutines at once. A negative delay counts as 0; after a panic the database's back-off applies. A
// [RetryError] takes precedence.
func Backoff(delay func(attempt int) time.Duration) TaskOption {
	return func(t *taskEntry) error {
		if delay == nil {
			return errors.New("back-off is nil")
		}
		t.backoff = delay
		return nil
	}
}

// Concurrency limits how many jobs of a task this worker runs at once, below Config.Concurrency, to leave executors to
// other tasks or to protect a shared resource. Further jobs stay in the queue, where other workers find them. Default:
// no limit. It must be at least 1. To limit all workers together, set a limit: see [Client.SetLimit].
func Concurrency(most int) TaskOption {
	return func(t *taskEntry) error {
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

// forbiddenFlags are the flags of jobs that are not claimed: a list, or the result of a function.
type forbiddenFlags struct {
	list []string
	fn   func(context.Context) ([]string, error)
}

// isNone returns whether there are neither a list nor a function.
func (f forbiddenFlags) isNone() bool { return len(f.list) == 0 && f.fn == nil }

// ask returns the flags for the next claim, nil for none.
func (f forbiddenFlags) ask(ctx context.Context) (flags []string, err error) {
	if f.fn == nil {
		return f.list, nil
	}
	fault := guard.Call(func() {
		if err = recovered(func() error { flags, err = f.fn(ctx); return err }); err != nil {
			err = fmt.Errorf("ask for forbidden flags: %w", err)
		}
	})
	switch {
	case fault != nil:
		return nil, fmt.Errorf("ask for forbidden flags: %w", fault)
	case err != nil:
		return nil, err
	}
	return flags, nil
}

var errTwoForbiddenFlags = errors.New("a list of forbidden flags and a function for them exclude each other")

// forbid sets the forbidden flags of a task.
func (t *taskEntry) forbid(flags forbiddenFlags) error {
	if before := t.forbidden; !before.isNone() && (before.fn == nil) != (flags.fn == nil) {
		return errTwoForbiddenFlags
	}
	t.forbidden = flags
	return nil
}

// ForbiddenFlags are flags of jobs of this task that the worker does not claim, in addition to Config.ForbiddenFlags,
// which applies to all tasks. Default: none.
func ForbiddenFlags(flags ...string) TaskOption {
	return func(t *taskEntry) error { return t.forbid(forbiddenFlags{list: slices.Clone(flags)}) }
}

// ForbiddenFlagsFunc returns such flags in place of a list. The worker calls it before each claim that may return jobs
// of the task. In all other respects it works as Config.ForbiddenFlagsFunc: an error or a panic postpones the claim,
// also of other tasks.
func ForbiddenFlagsFunc(ask func(context.Context) ([]string, error)) TaskOption {
	return func(t *taskEntry) error {
		if ask == nil {
			return errors.New("the function for forbidden flags is nil")
		}
		return t.forbid(forbiddenFlags{fn: ask})
	}
}
