package shimtest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/pkg/shim"
)

// Job returns a job as a worker would pass it to a handler, at its first of 25 attempts. It has no worker and no
// database, so its Client, WithConn, Query and CompleteTx return errors. Change its fields for other values.
func Job(tb TB, task string, payload any) *shim.Job {
	tb.Helper()
	text := json.RawMessage("{}")
	if payload != nil {
		var err error
		if text, err = json.Marshal(payload); err != nil {
			tb.Fatalf("encode the payload of a job of task %q: %v", task, err)
		}
	}
	now := time.Now()
	return &shim.Job{
		ID:             1,
		TaskIdentifier: task,
		Payload:        text,
		RunAt:          now,
		CreatedAt:      now,
		Attempts:       1,
		MaxAttempts:    25,
	}
}

// Result is the result of a handler for a job.
type Result struct {
	// Outcome is the outcome that the job would have.
	Outcome shim.Outcome

	// Err is the error of the handler. A panic becomes an error with its stack.
	Err error

	// RetryIn is the delay that the handler requested by shim.RetryIn, shim.Snooze or shim.RateLimited, nil if it requested none.
	RetryIn *time.Duration

	// Remaining is the payload of the next attempt, if the handler requested another one by shim.Batch.
	Remaining json.RawMessage
}

// Work calls a handler with a job, without a database, and returns the outcome that the job would have. Use
// [shim.Typed] for a handler with a decoded payload. The test applies middleware and options of the task, such as a
// timeout, itself.
//
// If ctx ends with the cause [shim.ErrShutdown] or [shim.ErrLeaseLost], the outcome is that of an interrupted job; with
// [shim.ErrCanceled], an error of the handler fails the job permanently.
func Work(ctx context.Context, handler shim.Handler, job *shim.Job) Result {
	err := call(shim.ContextWithJob(ctx, job), handler, job)
	result := Result{Outcome: outcome(ctx, job, err), Err: err}
	if batch, ok := guard.As[*shim.BatchError](err); ok && batch != nil {
		if rest, err := batch.Remaining(job.Payload); err == nil {
			result.Remaining = rest
		}
	}
	if retry, ok := guard.As[*shim.RetryError](err); ok && retry != nil {
		result.RetryIn = &retry.Delay
	}
	if snooze, ok := guard.As[*shim.SnoozeError](err); ok && snooze != nil {
		result.RetryIn = &snooze.Delay
	}
	if limited, ok := guard.As[*shim.RateLimitedError](err); ok && limited != nil {
		result.RetryIn = &limited.RetryAfter
	}
	return result
}

func outcome(ctx context.Context, job *shim.Job, err error) shim.Outcome {
	asked := shim.OutcomeOf(job, err)
	cause := context.Cause(ctx)
	switch {
	case guard.Is(cause, shim.ErrLeaseLost):
		return shim.OutcomeLeaseLost
	case guard.Is(cause, shim.ErrCanceled) && err != nil:
		return shim.OutcomePermanentlyFailed
	case guard.Is(cause, shim.ErrShutdown) && err != nil && asked != shim.OutcomeSnoozed &&
		asked != shim.OutcomeRateLimited:
		return shim.OutcomeReturned
	}
	return asked
}

func call(ctx context.Context, handler shim.Handler, job *shim.Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n\n%s", guard.Value(v), debug.Stack())
		}
	}()
	return handler(ctx, job)
}
