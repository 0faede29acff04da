// Package operate changes jobs for an operator who uses gw-run or the console.
package operate

import "github.com/gwsql/gw/internal/storable"

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
