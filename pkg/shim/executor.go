package shim

import (
	"context"
	"errors"
	"time"
)

// executor runs handlers, one after the other. A worker has as many as its concurrency.
type executor struct {
	tasks    map[string]task
	jobs     <-chan *Job
	outcomes chan<- outcome
	finished chan<- time.Duration
	running  *running
	events   *eventBus

	// handlers run under this context; it ends with the grace time.
	handling context.Context
	// abandoned is closed when handlers that ignored the end of their context had their time, too.
	abandoned <-chan struct{}
}

// run runs until jobs is closed and the last handler has returned.
func (e *executor) run() {
	for job := range e.jobs {
		o := outcome{job: job, verdict: returned}
		if e.handling.Err() == nil { // nothing starts that would be interrupted at once
			o = e.execute(job)
		}
		e.outcomes <- o
		e.finished <- o.duration
	}
}

func (e *executor) execute(job *Job) outcome {
	started := time.Now()
	task := e.tasks[job.TaskIdentifier]
	ctx, end := context.WithCancelCause(e.handling)
	defer end(nil)
	e.running.enter(job, end)
	defer e.running.leave(job)
	if task.timeout > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, task.timeout, &TimeoutError{After: task.timeout})
		defer cancel()
		ctx = timed
	}
	emit(e.events, JobStarted{Job: job})
	result := task.handler.start(ContextWithJob(ctx, job), job)
	o := outcome{job: job, started: true}
	select {
	case err := <-result:
		o.duration = time.Since(started)
		e.judge(&o, task, context.Cause(ctx), err)
	case <-e.abandoned:
		o.duration = time.Since(started)
		o.verdict, o.interrupted, o.err = returned, true, errors.New("handler ignored the end of its context")
		o.message = o.err.Error()
	}
	e.tell(o)
	return o
}

// judge says what becomes of a job whose handler returned err; cause is why its context has ended, if it has.
func (e *executor) judge(o *outcome, task task, cause, err error) {
	o.err = err
	switch {
	case errors.Is(cause, ErrLeaseLost):
		o.verdict = lost
		return
	case o.job.hold.isCompleting():
		// Whether its transaction was committed, only the database knows: failing what is gone touches nothing.
		o.verdict, o.inTx = failed, true
		if err == nil {
			err = errNotCommitted
		}
	case err == nil:
		o.verdict = completed
		return
	default:
		o.verdict = failed
	}

	o.message = err.Error()
	if timeout, ok := errors.AsType[*TimeoutError](cause); ok && !errors.Is(err, timeout) {
		o.message = timeout.Error() + ": " + o.message
	}
	if request, ok := errors.AsType[request](err); ok {
		request.ask(o)
	}
	o.askForRest(err)
	switch {
	case o.snoozed || o.inTx:
	case e.handling.Err() != nil:
		o.interrupt()
	case o.delay == nil && task.backoff != nil:
		o.delay = customDelay(task.backoff, o.job.Attempts)
	}
	o.message = cleanMessage(o.message)
}

// interrupt gives a job back whose handler was cut, or the rest of it: of a batch, what is done must not be done again.
func (o *outcome) interrupt() {
	o.interrupted, o.permanent, o.delay = true, false, nil
	if o.payload != nil && o.job.Attempts < o.job.MaxAttempts {
		o.delay = new(time.Duration(0))
		return
	}
	o.verdict = returned
}

// customDelay returns what a task's own back-off says, nil if it panics.
func customDelay(backoff func(int) time.Duration, attempt int) *time.Duration {
	var delay time.Duration
	err := recovered(func() error {
		delay = max(backoff(attempt), 0)
		return nil
	})
	if err != nil {
		return nil
	}
	return &delay
}

func (e *executor) tell(o outcome) {
	switch {
	case o.interrupted || o.verdict == lost && o.err != nil:
		emit(e.events, JobInterrupted{Job: o.job, Duration: o.duration, Err: o.err})
	case o.err == nil:
		emit(e.events, JobSucceeded{Job: o.job, Duration: o.duration})
	case o.snoozed:
		emit(e.events, JobSnoozed{Job: o.job, Duration: o.duration, Delay: *o.delay})
	default:
		emit(e.events, JobErrored{Job: o.job, Duration: o.duration, Err: o.err})
	}
}
