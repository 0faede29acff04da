package shim

import (
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// request is implemented by errors with which a handler asks for an outcome. If one wraps another, the outer one
// counts.
type request interface {
	error
	ask(*outcome)
}

// requestOf returns the request in err, nil without one.
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
