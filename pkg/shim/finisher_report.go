package shim

import (
	"context"
	"log/slog"
	"time"
)

// finisher writes outcomes. A flush takes all outcomes that arrived during the previous one, so a single outcome is
// written at once and a flood in large statements.
type finisher struct {
	loop
	quiet bool

	outcomes <-chan outcome
	settled  chan<- settlement

	interrupted int // returned jobs that had started
	unwritten   int // outcomes that could not be written
	left        int // jobs of which the database refuses every outcome
	refused     int // outcomes of leases that the worker no longer holds

	// Memory reused by the next flush.
	batch     []outcome
	byVerdict [verdictCommitted + 1][]outcome
	parts     parts
}

// report logs the results of outcomes and emits their events: those in done were written, the others were refused.
func (f *finisher) report(batch []outcome, done applied, tries int) {
	returned := 0
	for _, o := range batch {
		became, written := done.to(o.job.ID)
		o.job.hold.nextMayStart = became.next || o.verdict == verdictCompleted && tries > 1
		switch {
		case !written && (o.inTx || o.verdict == verdictCut && tries == 1):
			f.reportCommitted(o)
			continue
		case !written && tries > 1: // most likely it was
			f.tell(o, o.asked(), fate{})
			f.about(o).Warn("outcome not confirmed: it was written before the connection broke, or the lease is lost")
			continue
		case !written:
			f.reportLost(o)
			continue
		}
		if o.inTx && o.err == nil {
			o.err = errNotCommitted
		}
		end := o.end(became)
		f.tell(o, end, became)
		if !o.started && end == OutcomeReturned {
			returned++
			continue
		}
		f.logWritten(o, end, became)
	}
	if returned > 0 {
		f.logger.Info("jobs that had not started returned to the queue", "jobs", returned)
	}
}

func (f *finisher) reportLost(o outcome) {
	f.refused++
	f.tell(o, OutcomeLeaseLost, fate{})
	f.about(o).Warn("lease lost, outcome refused", "attempt", o.job.Attempts, "lease", o.job.hold.lease.Load())
}

// reportCommitted handles a job that was deleted when its handler returned.
func (f *finisher) reportCommitted(o outcome) {
	o.job.hold.nextMayStart = true
	f.tell(o, OutcomeCompleted, fate{})
	if o.err == nil && f.quiet {
		return
	}
	logger := f.about(o).With("duration_ms", milliseconds(o.duration))
	switch {
	case o.err != nil:
		logger.Warn("job completed by its handler, which then failed", "error", o.message)
	case o.job.hold.isWorkersTx():
		logger.Info("job completed")
	default:
		logger.Info("job completed", "by", "its handler")
	}
}

func (f *finisher) tell(o outcome, end Outcome, became fate) {
	if end == OutcomePermanentlyFailed {
		emit(f.events, JobFailed{Job: o.job.shown(), Duration: o.duration, Err: o.err})
	}
	reported := JobReported{
		Job: o.job.shown(), Outcome: end, Started: o.started, Duration: o.duration, Err: o.err,
		Attempts: became.attempts,
	}
	if end == OutcomeFailed || end == OutcomeSnoozed {
		reported.RetryIn = became.retryIn
	}
	if end == OutcomeRateLimited {
		reported.RetryIn = *o.delay
	}
	emit(f.events, reported)
}

func (f *finisher) logWritten(o outcome, end Outcome, became fate) {
	if end == OutcomeCompleted && (f.quiet || !f.logger.Enabled(context.Background(), slog.LevelInfo)) {
		return // most jobs of most workers
	}
	logger := f.about(o).With("duration_ms", milliseconds(o.duration))
	attempt := []any{"attempt", o.job.Attempts, "max_attempts", became.maxAttempts}
	switch end {
	case OutcomeCompleted:
		logger.Info("job completed")
	case OutcomeSnoozed:
		logger.Info("job snoozed", "retry_in_ms", milliseconds(became.retryIn))
	case OutcomeRateLimited:
		logger.Warn("job was rate limited and returned", "retry_in_ms", milliseconds(*o.delay), "error", o.message)
	case OutcomeReturned:
		if o.verdict == verdictCut {
			logger.Warn("connection lost, job returned", "error", o.message)
			return
		}
		logger.Warn("job interrupted and returned", "error", o.message)
	case OutcomePermanentlyFailed:
		logger.With(attempt...).Warn("job permanently failed", "attempts", became.attempts, "error", o.message)
	case OutcomeFailed:
		logger.With(attempt...).Warn("job failed", "retry_in_ms", milliseconds(became.retryIn), "error", o.message)
	}
}

func (f *finisher) about(o outcome) *slog.Logger {
	return f.logger.With("task_identifier", o.job.TaskIdentifier, "job_id", o.job.ID)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
