package shimtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/pkg/shimtest"
)

func TestAHandlerIsCalledWithoutADatabase(t *testing.T) {
	failure := errors.New("no such host")
	for name, c := range map[string]struct {
		returned  error
		attempt   int
		outcome   shim.Outcome
		retryIn   time.Duration // -1 for none
		remaining string
	}{
		"done":            {nil, 1, shim.OutcomeCompleted, -1, ""},
		"failed":          {failure, 1, shim.OutcomeFailed, -1, ""},
		"last attempt":    {failure, 25, shim.OutcomePermanentlyFailed, -1, ""},
		"discarded":       {shim.Discard(failure), 1, shim.OutcomePermanentlyFailed, -1, ""},
		"snoozed":         {shim.Snooze(time.Minute), 1, shim.OutcomeSnoozed, time.Minute, ""},
		"retried at once": {shim.RetryIn(0, failure), 1, shim.OutcomeFailed, 0, ""},
		"typed nil":       {(*shim.SnoozeError)(nil), 1, shim.OutcomeFailed, -1, ""},
		"done in part":    {shim.Batch([]error{nil, failure, nil}), 1, shim.OutcomeFailed, -1, `["b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			job := shimtest.Job(t, "task", []string{"a", "b", "c"})
			job.Attempts = c.attempt
			result := shimtest.Work(t.Context(), func(ctx context.Context, got *shim.Job) error {
				if in, _ := shim.JobFromContext(ctx); in != job || got != job {
					t.Errorf("the handler got %v, and %v in its context", got, in)
				}
				return c.returned
			}, job)
			retryIn := time.Duration(-1)
			if result.RetryIn != nil {
				retryIn = *result.RetryIn
			}
			if result.Outcome != c.outcome || result.Err != c.returned || retryIn != c.retryIn ||
				string(result.Remaining) != c.remaining {
				t.Errorf("the result is %+v", result)
			}
		})
	}
}

func TestAPanicIsAFailureWithItsStack(t *testing.T) {
	result := shimtest.Work(t.Context(), func(context.Context, *shim.Job) error { panic("tripped") },
		shimtest.Job(t, "task", nil))
	if result.Outcome != shim.OutcomeFailed || !strings.HasPrefix(result.Err.Error(), "panic: tripped\n\n") ||
		!strings.Contains(result.Err.Error(), "TestAPanicIsAFailure") {
		t.Errorf("the result is %+v", result)
	}
}

func TestAHandlerMayBeInterrupted(t *testing.T) {
	for cause, want := range map[error]shim.Outcome{
		shim.ErrShutdown:          shim.OutcomeReturned,
		shim.ErrLeaseLost:         shim.OutcomeLeaseLost,
		shim.ErrCanceled:          shim.OutcomePermanentlyFailed,
		errors.New("another one"): shim.OutcomeFailed,
	} {
		ctx, end := context.WithCancelCause(t.Context())
		result := shimtest.Work(ctx, func(ctx context.Context, _ *shim.Job) error {
			end(cause)
			return ctx.Err()
		}, shimtest.Job(t, "task", nil))
		if result.Outcome != want {
			t.Errorf("%v: the outcome is %s, want %s", cause, result.Outcome, want)
		}
	}
}

func TestAJobIsAsAWorkerGivesIt(t *testing.T) {
	job := shimtest.Job(t, "task", nil)
	if string(job.Payload) != "{}" || job.Attempts != 1 || job.MaxAttempts != 25 || job.TaskIdentifier != "task" ||
		job.ID == 0 {
		t.Errorf("the job is %+v", job)
	}
	r := &recorder{}
	shimtest.Job(r, "task", func() {})
	if !strings.HasPrefix(r.failure, "encode the payload") {
		t.Errorf("it said %q", r.failure)
	}
}

func TestTypedHandlersDecodeThePayload(t *testing.T) {
	greet := shim.Typed(func(_ context.Context, name string, _ *shim.Job) error { return errors.New("hello " + name) })
	if result := shimtest.Work(t.Context(), greet, shimtest.Job(t, "greet", "Ada")); result.Err.Error() != "hello Ada" {
		t.Errorf("the result is %+v", result)
	}
	result := shimtest.Work(t.Context(), greet, shimtest.Job(t, "greet", 1))
	if result.Outcome != shim.OutcomeFailed || !strings.HasPrefix(result.Err.Error(), "decode payload") {
		t.Errorf("the result is %+v", result)
	}
}
