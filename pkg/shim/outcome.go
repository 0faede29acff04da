package shim

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

	// OutcomeRateLimited means that a service has refused the job for now: it will run again, this attempt does not count,
	// and no other job of its lanes starts before the time that the handler gave to [RateLimited].
	OutcomeRateLimited Outcome = "rate_limited"

	// OutcomeReturned means that the job is in the queue again as if it had not been claimed: it had not started, it was
	// interrupted, or it has lost its connection to the database.
	OutcomeReturned Outcome = "returned"

	// OutcomeLeaseLost means that the job is no longer this worker's, so nothing was reported.
	OutcomeLeaseLost Outcome = "lease_lost"
)

// OutcomeOf returns the outcome that a handler requests by returning err for a job, if nothing interrupts it:
// OutcomeCompleted for nil, otherwise OutcomeFailed, OutcomePermanentlyFailed, OutcomeSnoozed or OutcomeRateLimited. It does not
// know whether a connection was lost. It is meant for middleware and for tests of handlers.
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
