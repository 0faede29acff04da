package shim

import (
	"context"
	"log/slog"
	"time"
)

// report logs and tells what became of outcomes: those in done were written, the others refused.
func (f *finisher) report(batch []outcome, done applied, tries int) {
	unstarted := 0
	for _, o := range batch {
		retryIn, written := done.to(o.job.ID)
		if o.delay != nil {
			retryIn = *o.delay
		}
		switch {
		case !written && o.inTx:
			f.tell(o, OutcomeCompleted, 0)
			f.logCommitted(o)
		case !written && tries > 1: // most likely it was
			f.tell(o, o.outcome(), retryIn)
			f.about(o).Warn("outcome not confirmed: it was written before the connection broke, or the lease is lost")
		case !written:
			f.reportLost(o)
		case !o.started:
			f.tell(o, OutcomeReturned, 0)
			unstarted++
		default:
			if o.inTx && o.err == nil {
				o.err = errNotCommitted
			}
			f.tell(o, o.outcome(), retryIn)
			f.logWritten(o, retryIn)
		}
	}
	if unstarted > 0 {
		f.logger.Info("jobs returned that had not started", "jobs", unstarted)
	}
}

func (f *finisher) reportLost(o outcome) {
	f.tell(o, OutcomeLeaseLost, 0)
	f.about(o).Warn("lease lost, outcome refused", "attempt", o.job.Attempts, "lease", o.job.hold.lease.Load())
}

// outcome returns what o comes to if the database takes it.
func (o *outcome) outcome() Outcome {
	switch {
	case o.verdict == completed:
		return OutcomeCompleted
	case o.snoozed:
		return OutcomeSnoozed
	case o.verdict == returned:
		return OutcomeReturned
	case o.permanent || o.job.Attempts >= o.job.MaxAttempts:
		return OutcomePermanentlyFailed
	}
	return OutcomeFailed
}

func (f *finisher) tell(o outcome, became Outcome, retryIn time.Duration) {
	switch became {
	case OutcomePermanentlyFailed:
		emit(f.events, JobFailed{Job: o.job, Duration: o.duration, Err: o.err})
		retryIn = 0
	case OutcomeCompleted, OutcomeReturned:
		retryIn = 0
	}
	emit(f.events, JobReported{
		Job: o.job, Outcome: became, Started: o.started, Duration: o.duration, Err: o.err, RetryIn: retryIn,
	})
}

func (f *finisher) logWritten(o outcome, retryIn time.Duration) {
	became := o.outcome()
	if became == OutcomeCompleted && (f.quiet || !f.logger.Enabled(context.Background(), slog.LevelInfo)) {
		return // most jobs of most workers
	}
	logger := f.about(o).With("duration_ms", milliseconds(o.duration))
	attempts := []any{"attempt", o.job.Attempts, "max_attempts", o.job.MaxAttempts}
	switch became {
	case OutcomeCompleted:
		logger.Info("job completed")
	case OutcomeSnoozed:
		logger.Info("job snoozed", "retry_in_ms", milliseconds(retryIn))
	case OutcomeReturned:
		logger.Warn("job interrupted and returned", "error", o.message)
	case OutcomePermanentlyFailed:
		logger.With(attempts...).Warn("job permanently failed", "error", o.message)
	case OutcomeFailed:
		logger.With(attempts...).Warn("job failed", "retry_in_ms", milliseconds(retryIn), "error", o.message)
	}
}

// logCommitted logs a job that was gone when its handler had returned.
func (f *finisher) logCommitted(o outcome) {
	if o.err == nil && f.quiet {
		return
	}
	logger := f.about(o).With("duration_ms", milliseconds(o.duration))
	switch {
	case o.err != nil:
		logger.Warn("job completed by its handler, which failed after that", "error", o.message)
	default:
		logger.Info("job completed", "by", "its handler")
	}
}

func (f *finisher) about(o outcome) *slog.Logger {
	return f.logger.With("task_identifier", o.job.TaskIdentifier, "job_id", o.job.ID)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
