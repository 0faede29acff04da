package shim

import (
	"fmt"
	"time"
)

// request is what an error asks for that a handler returns. Where one wraps another, the outer one counts.
type request interface {
	error
	ask(*outcome)
}

// DiscardError fails a job permanently. Make it with [Discard].
type DiscardError struct{ Err error }

// Discard returns an error that says what err says, and by which a handler fails its job for good: it is not tried again,
// however many attempts are left. err may be nil. Wrapped into other errors it means the same.
func Discard(err error) error { return &DiscardError{Err: err} }

func (e *DiscardError) Error() string { return textOr(e.Err, "discarded") }

// Unwrap returns Err.
func (e *DiscardError) Unwrap() error { return e.Err }

func (e *DiscardError) ask(o *outcome) { o.permanent = true }

// RetryError says when a job that fails is tried again. Make it with [RetryIn].
type RetryError struct {
	Delay time.Duration
	Err   error
}

// RetryIn returns an error that says what err says, and by which a handler fails its attempt and has the job tried again
// in delay from when the database takes note, in place of the usual back-off; at once if delay is negative. The last
// attempt stays the last. err may be nil. Wrapped into other errors it means the same.
func RetryIn(delay time.Duration, err error) error {
	return &RetryError{Delay: max(delay, 0), Err: err}
}

func (e *RetryError) Error() string {
	return textOr(e.Err, fmt.Sprintf("to be tried again in %s", e.Delay))
}

// Unwrap returns Err.
func (e *RetryError) Unwrap() error { return e.Err }

func (e *RetryError) ask(o *outcome) { o.delay = &e.Delay }

// SnoozeError puts a job off. Make it with [Snooze].
type SnoozeError struct{ Delay time.Duration }

// Snooze returns an error by which a handler puts its job off without failing: it runs again in delay from when the
// database takes note, at once if delay is negative, and this attempt is not counted. last_error stays as it is. Wrapped
// into other errors it means the same.
//
// A job that snoozes for ever never fails. If it has to end some time, look at [Job.CreatedAt].
func Snooze(delay time.Duration) error { return &SnoozeError{Delay: max(delay, 0)} }

func (e *SnoozeError) Error() string { return fmt.Sprintf("snoozed for %s", e.Delay) }

func (e *SnoozeError) ask(o *outcome) { o.verdict, o.snoozed, o.delay = returned, true, &e.Delay }

func textOr(err error, text string) string {
	if err == nil {
		return text
	}
	return err.Error()
}
