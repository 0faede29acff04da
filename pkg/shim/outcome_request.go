package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// request is implemented by errors with which a handler asks for an outcome. If one wraps another, the outer one
// counts.
type request interface {
	error
	ask(*outcome)
}

func requestOf(err error) request {
	asked, ok := guard.As[request](err)
	if !ok || guard.Call(func() { asked.ask(&outcome{}) }) != nil { // it may be a typed nil
		return nil
	}
	return asked
}

// DiscardError fails a job permanently. Create it with [Discard].
type DiscardError struct{ Err error }

// Discard returns an error with the text of err with which a handler fails its job permanently: it is not tried again,
// however many attempts are left. err may be nil. The error may be wrapped.
func Discard(err error) error { return &DiscardError{Err: err} }

func (e *DiscardError) Error() string { return textOr(e.Err, "discarded") }

// Unwrap returns Err.
func (e *DiscardError) Unwrap() error { return e.Err }

func (e *DiscardError) ask(o *outcome) { o.permanent = true }

// RetryError sets when a failed job is tried again. Create it with [RetryIn].
type RetryError struct {
	Delay time.Duration
	Err   error
}

// RetryIn returns an error with the text of err with which a handler fails its attempt and sets the delay of the retry,
// in place of the usual back-off. The delay counts from when the database records the failure; a negative one means at
// once. The last attempt stays the last. err may be nil. The error may be wrapped.
func RetryIn(delay time.Duration, err error) error {
	return &RetryError{Delay: max(delay, 0), Err: err}
}

func (e *RetryError) Error() string {
	return textOr(e.Err, fmt.Sprintf("retry in %s", e.Delay))
}

// Unwrap returns Err.
func (e *RetryError) Unwrap() error { return e.Err }

func (e *RetryError) ask(o *outcome) { o.delay = &e.Delay }

// SnoozeError defers a job. Create it with [Snooze].
type SnoozeError struct{ Delay time.Duration }

// Snooze returns an error with which a handler defers its job without failing it: the job runs again after delay,
// counted from when the database records it, at once if delay is negative. The attempt does not count, and last_error
// is unchanged. The error may be wrapped.
//
// A job that snoozes each time never fails. To end it at some point, check [Job.CreatedAt].
func Snooze(delay time.Duration) error { return &SnoozeError{Delay: max(delay, 0)} }

func (e *SnoozeError) Error() string { return fmt.Sprintf("snoozed for %s", e.Delay) }

func (e *SnoozeError) ask(o *outcome) {
	o.verdict, o.snoozed, o.delay = verdictReturned, true, &e.Delay
}

// RateLimitedError returns a job that a service has refused for now. Create it with [RateLimited].
type RateLimitedError struct{ RetryAfter time.Duration }

// RateLimited returns an error with which a handler reports that the service it calls accepts no more requests until
// retryAfter has passed, such as by the HTTP status 429 with Retry-After. The attempt does not count, and last_error is
// unchanged. If limits apply to the job (see the SQL function set_limit), none of the jobs in its lanes starts before
// then, in any worker; a job without limits does not start before then itself. retryAfter counts from when the database
// records it, and is at least a millisecond. The error may be wrapped.
//
// A job that is refused each time never fails. To end it at some point, check [Job.CreatedAt].
func RateLimited(retryAfter time.Duration) error {
	return &RateLimitedError{RetryAfter: max(retryAfter, time.Millisecond)}
}

func (e *RateLimitedError) Error() string { return fmt.Sprintf("rate limited for %s", e.RetryAfter) }

func (e *RateLimitedError) ask(o *outcome) { o.verdict, o.delay = verdictRateLimited, &e.RetryAfter }

func textOr(err error, text string) string {
	if err == nil {
		return text
	}
	return err.Error()
}

// OutcomeOf returns the outcome that a handler requests by returning err for a job, if nothing interrupts it:
// OutcomeCompleted for nil, otherwise OutcomeFailed, OutcomePermanentlyFailed, OutcomeSnoozed or OutcomeRateLimited. It
// does not know whether a connection was lost. It is meant for middleware and for tests of handlers.
func OutcomeOf(job *Job, err error) Outcome {
	if err == nil {
		return OutcomeCompleted
	}
	switch requestOf(err).(type) {
	case *SnoozeError:
		return OutcomeSnoozed
	case *RateLimitedError:
		return OutcomeRateLimited
	case *DiscardError:
		return OutcomePermanentlyFailed
	}
	if job.Attempts >= job.MaxAttempts {
		return OutcomePermanentlyFailed
	}
	return OutcomeFailed
}

// BatchError records, for each element of an array payload, whether it has completed. Create it with [Batch].
type BatchError struct {
	// Errs has an error at the position of each failed element, and nil for the others.
	Errs []error
}

// Batch returns an error with which the handler of an array payload fails its attempt for some of the elements. errs
// has one entry per element, nil for completed ones. The job is tried again with only the failed elements as its
// payload. If all entries are nil, Batch returns nil.
//
// The error may be wrapped, for example by [RetryIn], which sets the delay of the retry, or [Discard], which prevents
// it. The texts of the elements' errors are stored in last_error, one per line; their types are ignored. If errs does
// not have one entry per element, all elements are tried again.
func Batch(errs []error) error {
	if errors.Join(errs...) == nil {
		return nil
	}
	return &BatchError{Errs: errs}
}

func (e *BatchError) Error() string {
	var b strings.Builder
	b.WriteString("Batch failures:")
	for _, err := range e.Errs {
		if err != nil {
			b.WriteString("\n" + guard.Text(err))
		}
	}
	return b.String()
}

// Remaining returns the failed elements of a payload, unchanged. It returns an error if the payload is not an array
// with as many elements as Errs, or if no element failed.
func (e *BatchError) Remaining(payload json.RawMessage) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(payload, &elements); err != nil {
		return nil, fmt.Errorf("the payload of a batch is not an array: %w", err)
	}
	if len(elements) != len(e.Errs) {
		return nil, fmt.Errorf("there are %d errors for %d elements", len(e.Errs), len(elements))
	}
	var failed [][]byte
	for i, err := range e.Errs {
		if err != nil {
			failed = append(failed, elements[i])
		}
	}
	if len(failed) == 0 {
		return nil, errors.New("no element failed")
	}
	return json.RawMessage("[" + string(bytes.Join(failed, []byte(","))) + "]"), nil
}

// ask does nothing. It prevents the requests of the elements' errors from being applied to the job.
func (e *BatchError) ask(*outcome) {}

// askForRest limits the retry to the elements that err reports as failed, if it is a BatchError.
func (o *outcome) askForRest(err error) {
	batch, ok := guard.As[*BatchError](err)
	if !ok || batch == nil {
		return
	}
	rest, err := batch.Remaining(o.job.Payload)
	if err != nil {
		o.message += fmt.Sprintf("\nThe whole payload is kept: %s.", err)
		return
	}
	o.payload = rest
}

func handleElement[T any](ctx context.Context, text json.RawMessage, job *Job,
	fn func(context.Context, T, *Job) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var element T
	if err := json.Unmarshal(text, &element); err != nil {
		return fmt.Errorf("decode element: %w", err)
	}
	return recovered(func() error { return fn(ctx, element, job) })
}
