// Package operate changes jobs for an operator who uses gw-run or the console.
package operate

import (
	"fmt"
	"strings"

	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/storable"
)

// StepJobs is the number of jobs that are changed at once.
const StepJobs = 1000

// Act is an action on jobs.
type Act struct {
	Did string // what it has done, such as "Retried"
	// call is the call of an SQL function that returns the changed jobs, with args as $2 and so on, IDS for an array of
	// ids, and BEFORE for the number of jobs in earlier steps.
	call   string
	args   []any
	failed string // why it skips failed jobs; empty if it does not skip them
}

// Retry makes jobs due now, failed ones with all their attempts.
func Retry() Act { return Act{Did: "Retried", call: `S.retry_jobs(IDS)`} }

// RetryApart makes jobs due one after the other, that many in each interval.
func RetryApart(interval any, jobs int64) Act {
	return Act{Did: "Retried", args: []any{interval, jobs},
		call: `S.redrive_jobs(IDS, $2::text::interval operator(pg_catalog./) $3::bigint,
		pg_catalog.now() operator(pg_catalog.+) (BEFORE operator(pg_catalog.*) ($2::text::interval operator(pg_catalog./) $3::bigint)))`}
}

// Reschedule changes the values of jobs that are not nil.
func Reschedule(runAt, in, priority, attempts, maxAttempts any) Act {
	return Act{Did: "Rescheduled", args: []any{runAt, in, priority, attempts, maxAttempts},
		call: `S.reschedule_jobs(IDS,
		coalesce($2::text::timestamptz, pg_catalog.now() operator(pg_catalog.+) $3::text::interval), $4::text::integer,
		$5::text::integer, $6::text::integer)`}
}

// Cancel fails jobs permanently, running ones included.
func Cancel(reason any) Act {
	return Act{Did: "Canceled", call: `S.cancel_jobs(IDS, $2::text)`, args: []any{storable.Arg(reason)},
		failed: "has failed already"}
}

// Fail fails jobs permanently.
func Fail(reason any) Act {
	return Act{Did: "Failed", call: `S.permanently_fail_jobs(IDS, $2::text)`, args: []any{storable.Arg(reason)}}
}

// Complete deletes jobs as completed.
func Complete() Act { return Act{Did: "Completed", call: `S.complete_jobs(IDS)`} }

// Remove deletes jobs.
func Remove() Act { return Act{Did: "Removed", call: `S.complete_jobs(IDS)`} }

// RemoveKey deletes the job with a key. If it is running, it loses its key and does not run again.
func RemoveKey(key string) Act {
	return Act{Did: "Removed", args: []any{key},
		call: `S.remove_job(case when pg_catalog.cardinality(IDS) operator(pg_catalog.>) 0 then $2::text end)`}
}

// Selection is conditions that select jobs. A job must match all conditions that are given.
type Selection struct {
	State, Task, Queue, Key, Older, Newer string

	ErrorGroup string // as error_groups returns it; only the console has it
}

// IsEmpty reports whether there are no conditions.
func (s Selection) IsEmpty() bool { return s == Selection{} }

// String returns the conditions as text, for the audit; empty without conditions.
func (s Selection) String() string {
	var words []string
	for _, c := range [][2]string{
		{"state ", s.State}, {"task ", s.Task}, {"queue ", s.Queue}, {"key ", s.Key}, {"added before ", s.Older},
		{"added within ", s.Newer},
	} {
		if c[1] != "" {
			words = append(words, c[0]+c[1])
		}
	}
	return strings.Join(words, ", ")
}

// Arguments returns the conditions but the group as the first six arguments of the SQL functions that take them.
func (s Selection) Arguments() []any {
	return []any{statement.OrNull(s.State), statement.OrNull(s.Task), statement.OrNull(s.Queue),
		statement.OrNull(s.Key), statement.OrNull(s.Older), statement.OrNull(s.Newer)}
}

// Conditions returns the SQL of the arguments, as the parameters of a statement from number first on.
func Conditions(first int) string {
	return fmt.Sprintf("$%d::text, $%d::text, $%d::text, $%d::text, $%d::text::interval, $%d::text::interval",
		first, first+1, first+2, first+3, first+4, first+5)
}
