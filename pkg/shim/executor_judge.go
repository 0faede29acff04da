package shim

import (
	"errors"
	"time"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/sqlstate"
)

func (e *executor) conclude(job *Job, task taskEntry, duration time.Duration, cause, err error) {
	o := outcome{job: job, started: true, duration: duration}
	switch { // a success is recorded without an allocation
	case err == nil && job.hold.isCommitted():
		o.verdict = verdictCommitted
	case err != nil || cause != nil || job.hold.isCompleting():
		o = e.judge(o, task, cause, err)
	}
	if o.verdict == verdictCut {
		e.watch.Pause(e.handling)
	} else {
		e.losses.forget(job.ID)
	}
	e.deliver(o)
}

// judge returns the outcome of a job whose handler returned err; cause is the reason why its context ended, if it has.
func (e *executor) judge(o outcome, task taskEntry, cause, err error) outcome {
	o.err = err
	switch {
	case o.job.hold.isCommitted():
		o.verdict = verdictCommitted
		if err != nil {
			o.message = guard.Text(err)
		}
		return o
	case errors.Is(cause, ErrLeaseLost), guard.Is(err, errLost):
		o.verdict = verdictLost
		return o
	case e.isLost(o.job, task, cause, err):
		o.verdict, o.message = verdictCut, guard.Text(err)
		return o
	case o.job.hold.isCompleting():
		// Only the database can tell whether the transaction was committed. Failing a job that is deleted changes
		// nothing.
		o.verdict, o.inTx = verdictFailed, true
		if err == nil {
			err = errNotCommitted
		}
	case err == nil:
		o.verdict = verdictCompleted
		return o
	default:
		o.verdict = verdictFailed
	}

	o.message = guard.Text(err)
	if timeout, ok := errors.AsType[*TimeoutError](cause); ok && !guard.Is(err, timeout) {
		o.message = timeout.Error() + ": " + o.message
	}
	isCanceled := errors.Is(cause, ErrCanceled) // whatever the handler asks for, the database would not run the job again
	if isCanceled {
		if !guard.Is(err, ErrCanceled) {
			o.message = cause.Error() + ": " + o.message
		}
		o.permanent = true
	} else if request := requestOf(err); request != nil {
		request.ask(&o)
	}
	o.askForRest(err)
	switch {
	case isCanceled || o.snoozed || o.verdict == verdictRateLimited || o.inTx && o.err == nil:
	case e.handling.Err() != nil:
		o.interrupt()
	case o.inTx:
	case o.delay == nil && task.backoff != nil:
		o.delay = guard.Ask(nil, func() *time.Duration { return new(max(task.backoff(o.job.Attempts), 0)) })
	}
	return o
}

// isLost reports whether an attempt has ended with err because a connection was lost; cause is why its context has
// ended.
func (e *executor) isLost(job *Job, task taskEntry, cause, err error) bool {
	when, isKnown := lostWhen(err)
	switch {
	case isKnown && when == atBegin:
		return true
	case isKnown:
	case cause != nil || !guard.Ask(false, func() bool { return sqlstate.IsLostConnection(err) }):
		return false
	case job.hold.isCompleting():
	case task.inTx || !e.watch.HasLost():
		return false
	}
	return e.losses.add(job.ID) < mostLosses
}

// interrupt returns the job of an interrupted handler, or the rest of it: completed elements of a batch must not be
// repeated.
func (o *outcome) interrupt() {
	o.interrupted, o.permanent, o.delay = true, false, nil
	if o.payload != nil && o.job.Attempts < o.job.MaxAttempts {
		o.delay = new(time.Duration(0))
		return
	}
	o.verdict = verdictReturned
}

func (e *executor) deliver(o outcome) {
	switch {
	case o.interrupted || o.verdict == verdictCut || o.verdict == verdictLost && o.err != nil:
		emit(e.events, JobInterrupted{Job: o.job.shown(), Duration: o.duration, Err: o.err})
	case o.err == nil:
		emit(e.events, JobSucceeded{Job: o.job.shown(), Duration: o.duration})
	case o.snoozed || o.verdict == verdictRateLimited:
		emit(e.events, JobSnoozed{Job: o.job.shown(), Duration: o.duration, Delay: *o.delay})
	default:
		emit(e.events, JobErrored{Job: o.job.shown(), Duration: o.duration, Err: o.err})
	}
	e.outcomes <- o
	e.backlog.ended(o)
}
