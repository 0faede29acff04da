package shim

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gwsql/gw/internal/sqlstate"
)

// writeRefused handles an outcome that the database refuses, for example because a user's trigger raises an error. The
// job fails with that error, as if its handler had returned it. If the failure is refused, writeRefused tries a
// permanent failure. If that is refused too, every outcome would be: the job stays locked, so that it does not run
// again.
func (f *finisher) writeRefused(ctx context.Context, verb string, o outcome, refusal error, call writeFunc) {
	fail := call
	if verb != "fail" {
		fail = f.queries.fail
	}
	err := refusal
	for _, instead := range o.insteadOf(verb, refusal) {
		var done applied
		var tries int
		batch := []outcome{instead}
		if done, tries, err = f.persist(ctx, "fail", batch, fail); err == nil {
			batch, renewed := splitRenewed(batch, done)
			f.report(batch, done, tries)
			if len(renewed) > 0 {
				f.write(ctx, verb, []outcome{o}, call)
			}
			return
		}
		if !sqlstate.IsRefusedOutcome(err) {
			break
		}
	}
	if !sqlstate.IsRefusedOutcome(err) {
		f.lose(1, fmt.Errorf("fail job %d: %w", o.job.ID, err))
		return
	}
	f.left++
	f.about(o).Error("database refuses every outcome of a job, job stays locked until it is freed", "error", err)
}

// insteadOf returns the failures to try, in this order, after the database has refused o.
func (o outcome) insteadOf(verb string, refusal error) (failures []outcome) {
	if o.verdict == failed {
		// The database's encoding may lack a character of the message.
		plain := o
		plain.message = strconv.QuoteToASCII(o.message)
		failures = append(failures, plain)
	}
	refused := o
	refused.verdict, refused.snoozed, refused.interrupted = failed, false, false
	refused.err = &RefusedError{Err: refusal, Returned: o.err}
	refused.message = cleanMessage(fmt.Sprintf("%s job: %v", verb, refusal))
	if o.message != "" {
		refused.message = strconv.QuoteToASCII(o.message) + "\n" + refused.message
	}
	// With the job's present payload, the completed part would be repeated.
	refused.permanent, refused.payload, refused.delay = o.permanent || o.payload != nil, nil, nil
	failures = append(failures, refused)
	if !refused.permanent {
		refused.permanent = true
		failures = append(failures, refused)
	}
	return failures
}

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

// maxDoubtfulTries is how often an outcome is tried while the error is doubtful: for some seconds.
const maxDoubtfulTries = 6
