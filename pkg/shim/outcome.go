package shim

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Outcome is the result of a claim as recorded in the database: not what the handler asked for, but the state of the
// job's row after the outcome was written.
type Outcome string

const (
	// OutcomeCompleted means that the job is completed and its row is deleted.
	OutcomeCompleted Outcome = "completed"

	// OutcomeFailed means that the attempt failed and the job will be tried again.
	OutcomeFailed Outcome = "failed"

	// OutcomePermanentlyFailed means that the job will not be tried again; its row is kept until it is deleted or
	// rescheduled. It was the last attempt, or the handler discarded the job, or the job was replaced under its key,
	// removed or canceled while it was claimed.
	OutcomePermanentlyFailed Outcome = "permanently_failed"

	// OutcomeSnoozed means that the job will run again, and that this attempt does not count.
	OutcomeSnoozed Outcome = "snoozed"

	// OutcomeRateLimited means that a service has refused the job for now: it will run again, this attempt does not
	// count, and no other job of its lanes starts before the time that the handler gave to [RateLimited].
	OutcomeRateLimited Outcome = "rate_limited"

	// OutcomeReturned means that the job is in the queue again as if it had not been claimed: it had not started, it
	// was interrupted, or it has lost its connection to the database.
	OutcomeReturned Outcome = "returned"

	// OutcomeLeaseLost means that the job is no longer this worker's, so nothing was reported.
	OutcomeLeaseLost Outcome = "lease_lost"
)

type settlement struct {
	jobs  []*Job
	queue bool // a named queue may have become free
}

type verdict int

const (
	verdictCompleted verdict = iota
	verdictFailed
	verdictReturned
	verdictRateLimited
	verdictLost      // the worker lost the job: there is nothing to report
	verdictCut       // returned, because the attempt has lost its connection; a transaction of it may have completed the job
	verdictCommitted // the handler has completed the job, and this is known: nothing to report
)

// outcome is the result of a claim. It belongs to the claim's lease: if the job has another lease by now, the outcome
// changes nothing.
type outcome struct {
	job         *Job
	lease       int64 // the lease by which it was last written
	verdict     verdict
	started     bool            // its handler was called
	interrupted bool            // and interrupted
	snoozed     bool            // of a returned job: requested by its handler
	inTx        bool            // its handler completed it in a transaction, which may have been committed
	permanent   bool            // of a failed job: not to be tried again
	delay       *time.Duration  // until the job runs again, nil for the database's own delay; of a rate-limited job: always
	payload     json.RawMessage // of a failed job: the payload of the next attempt, nil for the same
	message     string          // the error text of the handler
	err         error           // as returned by the handler
	duration    time.Duration   // of the handler
}

// fate is the state of a job after its outcome was written; empty for a completed job.
type fate struct {
	state       string // in the terms of the SQL function job_state
	attempts    int
	maxAttempts int
	retryIn     time.Duration // until run_at, 0 if that has passed
	next        bool          // the next job of its queue may start
}

// applied is what the database did with a batch of outcomes: the new states of the changed jobs by their ids. An id
// that is missing belongs to a lost lease. A nil map means that all were accepted, as in most batches of completed
// jobs.
type applied map[int64]fate

// to returns the new state of a job, and whether its outcome was accepted.
func (a applied) to(id int64) (became fate, taken bool) {
	if a == nil {
		return fate{next: true}, true
	}
	became, taken = a[id]
	return became, taken
}

// end returns the outcome that the database has recorded. A job that was replaced, removed or canceled while it ran has
// failed, whatever was requested.
func (o *outcome) end(became fate) Outcome {
	if o.verdict != verdictCompleted && became.state == "failed" {
		return OutcomePermanentlyFailed
	}
	return o.kind()
}

// asked returns the outcome that o requests, if the database gave no answer.
func (o *outcome) asked() Outcome {
	if o.verdict == verdictFailed && (o.permanent || o.job.Attempts >= o.job.MaxAttempts) {
		return OutcomePermanentlyFailed
	}
	return o.kind()
}

func (o *outcome) kind() Outcome {
	switch {
	case o.verdict == verdictCompleted:
		return OutcomeCompleted
	case o.snoozed:
		return OutcomeSnoozed
	case o.verdict == verdictRateLimited:
		return OutcomeRateLimited
	case o.verdict == verdictReturned, o.verdict == verdictCut:
		return OutcomeReturned
	}
	return OutcomeFailed
}

// errNotCommitted fails the attempt of a handler that returned nil although its job still exists.
var errNotCommitted = errors.New("the transaction that completed the job was not committed")

// RefusedError means that the database has refused the outcome of a handler, so that the job has failed instead.
type RefusedError struct {
	Err      error // the reason, as reported by the database
	Returned error // the handler's error
}

func (e *RefusedError) Error() string { return "outcome refused by the database: " + e.Err.Error() }

// Unwrap returns Err and, if the handler returned an error, Returned.
func (e *RefusedError) Unwrap() []error {
	if e.Returned == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Returned}
}

// maxMessage is the maximum size of an error in last_error, in bytes.
const maxMessage = 64 << 10

const truncated = "\n[truncated]"

// cleanMessage makes text storable: valid UTF-8 without NUL, which PostgreSQL cannot store, and not longer than
// maxMessage.
func cleanMessage(text string) string {
	text = strings.ReplaceAll(text, "\x00", "")
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage-len(truncated)], "") + truncated
	}
	return text
}
