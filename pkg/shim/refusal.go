package shim

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
)

// writeRefused is for an outcome that the database refuses, because a trigger of the user's raises for instance: the job
// has failed with that error, as if its handler had returned it. What is refused as a failure is tried as a permanent one.
// Whoever refuses that, too, refuses whatever could be written: the job stays locked, which keeps it from running again.
func (f *finisher) writeRefused(ctx context.Context, verb string, o outcome, refusal error, call writeFunc) {
	if verb != "fail" {
		call = f.queries.fail
	}
	err := refusal
	for _, instead := range o.insteadOf(verb, refusal) {
		var done applied
		var tries int
		batch := []outcome{instead}
		if done, tries, err = f.persist(ctx, "fail", batch, call); err == nil {
			batch, renewed := splitRenewed(batch, done)
			f.report(batch, done, tries)
			if len(renewed) > 0 {
				f.write(ctx, verb, []outcome{o}, call)
			}
			return
		}
		if !isRefusedOutcome(err) {
			break
		}
	}
	if !isRefusedOutcome(err) {
		f.lose(1, fmt.Errorf("fail job %d: %w", o.job.ID, err))
		return
	}
	f.left++
	f.about(o).Error("the database refuses every outcome of a job, which stays locked until it is freed", "error", err)
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
	// With the payload that the job has, what is done of it would be done again.
	refused.permanent, refused.payload, refused.delay = o.permanent || o.payload != nil, nil, nil
	failures = append(failures, refused)
	if !refused.permanent {
		refused.permanent = true
		failures = append(failures, refused)
	}
	return failures
}

// RefusedError says that the database has refused to take what a handler returned, so that the job has failed instead.
type RefusedError struct {
	Err      error // why, as the database says
	Returned error // what the handler returned
}

func (e *RefusedError) Error() string { return "outcome refused by the database: " + e.Err.Error() }

// Unwrap returns Err and, if the handler returned an error, Returned.
func (e *RefusedError) Unwrap() []error {
	if e.Returned == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Returned}
}

// maxDoubtfulTries is how often an outcome is tried while the error is doubtful: some seconds.
const maxDoubtfulTries = 6

// isDoubtful reports whether an error passes by itself as a rule, conflicts of transactions (40) and internal errors (XX),
// but may come from the row as well, and then for ever.
func isDoubtful(err error) bool { return inClass(err, "40", "XX") }

// isRefusedOutcome reports whether the database refused an outcome for what it is: whatever a trigger may raise. The rest is
// weather, that of the connection (08, 25, 28) and of the server (53, 55, 57, 58, F0), or a mistake.
func isRefusedOutcome(err error) bool {
	return sqlstate.Of(err) != "" && !inClass(err, "08", "25", "28", "53", "55", "57", "58", "F0") && !isMistake(err)
}

// triggerFunction matches a function without arguments in a line of an error's context.
var triggerFunction = regexp.MustCompile(`([\w$]+)"?\(\)`)

// isFromTrigger reports whether an error arose in a trigger that is not of the queue, whose own have names with _gw_: a
// line of the context names each function that was running, those of the queue with arguments, in a language that the
// server is set to.
func isFromTrigger(err *pgconn.PgError) bool {
	for line := range strings.Lines(err.Where) {
		if !strings.Contains(line, "PL/") {
			continue
		}
		name := triggerFunction.FindStringSubmatch(line)
		if !strings.Contains(line, "PL/pgSQL") || name != nil && !strings.HasPrefix(name[1], "_gw_") {
			return true
		}
	}
	return false
}
