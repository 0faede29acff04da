package shim

import "errors"

// Outcome is what becomes of a claim, as the database says: not what its handler asked for, but what the job's row says
// once that is written.
type Outcome string

const (
	// OutcomeCompleted means that the job is done and its row is gone.
	OutcomeCompleted Outcome = "completed"

	// OutcomeFailed means that the attempt failed and the job will be tried again.
	OutcomeFailed Outcome = "failed"

	// OutcomePermanentlyFailed means that the job will not be tried again; its row is kept until somebody acts. It was the
	// last attempt, or the handler discarded the job, or the job was replaced under its key, removed or canceled while it was
	// claimed.
	OutcomePermanentlyFailed Outcome = "permanently_failed"

	// OutcomeSnoozed means that the job will run again, and that this attempt does not count.
	OutcomeSnoozed Outcome = "snoozed"

	// OutcomeReturned means that the job is in the queue again as if it had not been claimed: it had not started, or it
	// was interrupted.
	OutcomeReturned Outcome = "returned"

	// OutcomeLeaseLost means that the job is not this worker's any more, so that nothing was reported.
	OutcomeLeaseLost Outcome = "lease_lost"
)

// OutcomeOf returns what a handler asks for by returning err for a job, if nothing interrupts it: OutcomeCompleted for
// nil, else OutcomeFailed, OutcomePermanentlyFailed or OutcomeSnoozed. Middleware may use it, and tests of handlers.
func OutcomeOf(job *Job, err error) Outcome {
	if err == nil {
		return OutcomeCompleted
	}
	request, _ := errors.AsType[request](err)
	switch request.(type) {
	case *SnoozeError:
		return OutcomeSnoozed
	case *DiscardError:
		return OutcomePermanentlyFailed
	}
	if job.Attempts >= job.MaxAttempts {
		return OutcomePermanentlyFailed
	}
	return OutcomeFailed
}
