package shim

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// executor runs handlers one after the other. A worker has as many executors as its concurrency.
type executor struct {
	tasks    *atomic.Pointer[taskSet]
	backlog  *backlog
	outcomes chan<- outcome
	canceled *cancellations
	events   *eventBus
	stopped  func() // called when the executor has ended

	// handling is the parent context of the handlers; it ends with the grace time.
	handling context.Context

	mu      sync.Mutex
	jobs    []*Job // the jobs whose handler is running, nil without
	started time.Time
	cut     context.CancelCauseFunc // ends the call that runs for several jobs in one transaction, nil without
	isOver  bool                    // running handlers are no longer waited for
	isLeft  bool                    // a handler was left behind, and with it the goroutine it runs in

	single [1]*Job // the memory of jobs if there is one job

	losses              *losses
	broken              int64 // connections that the pool had lost at a time shortly before the call
	brokenAt            time.Time
	hasLost, lostBefore bool // this call and the one before it have lost their connections
	retry               backoff
}

// run runs until the backlog is closed and its last handler has returned. Handlers run in its own goroutine, which
// costs the least. If a handler ends the goroutine, as t.FailNow does, run continues in another.
func (e *executor) run() {
	exited := true
	defer func() {
		if exited && !e.isLeft {
			go e.run()
		}
	}()
	for job := e.backlog.next(); job != nil; job = e.backlog.next() {
		task, served := e.tasks.Load().byName[job.TaskIdentifier]
		e.single[0] = job
		jobs := e.single[:]
		if task.many != nil {
			jobs = e.backlog.more(job, task.most)
		}
		switch {
		case !served || !e.canceled.allows(e.handling, job) || !e.begin(jobs):
			for _, job := range jobs {
				e.report(outcome{job: job, verdict: returned})
			}
			continue
		case task.many != nil && task.inTx:
			e.executeManyTx(jobs, task)
		case task.many != nil:
			e.executeMany(jobs, task)
		default:
			e.execute(job, task)
		}
		if e.isLeft {
			return
		}
		e.endCall()
	}
	exited = false
	e.stopped()
}

// begin returns false if a handler would be interrupted at once, or if the process was paused since the claim, possibly
// so long that the worker counts as dead.
func (e *executor) begin(jobs []*Job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isOver || e.handling.Err() != nil || slices.ContainsFunc(jobs, (*Job).isOld) {
		return false
	}
	e.jobs, e.started = jobs, time.Now()
	for _, job := range jobs {
		job.hold.context.Context, job.hold.context.job = e.handling, job.shown()
	}
	return true
}

// appendLasting appends the jobs whose handler has run for at least d.
func (e *executor) appendLasting(jobs []*Job, d time.Duration) []*Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs == nil || time.Since(e.started) < d {
		return jobs
	}
	for _, job := range e.jobs {
		if !job.hold.lost {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// interrupt ends the context of a job whose handler runs here, and the call for several jobs that it is part of, which
// cannot be committed any more. It returns whether the handler runs here and was not interrupted before; but a canceled
// job may still be lost.
func (e *executor) interrupt(job *Job, cause error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	isLoss := errors.Is(cause, ErrLeaseLost)
	if !slices.Contains(e.jobs, job) || job.hold.lost || job.hold.canceled && !isLoss {
		return false
	}
	job.hold.lost, job.hold.canceled = isLoss, job.hold.canceled || !isLoss
	job.hold.context.end(cause)
	if e.cut != nil {
		e.cut(cause)
	}
	return true
}

// end records that the handler has returned. It returns false if the handler was left behind before and its jobs were
// returned.
func (e *executor) end() (isOurs bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isLeft = e.jobs == nil
	e.jobs = nil
	return !e.isLeft
}

func (e *executor) execute(job *Job, task task) {
	base := &job.hold.context
	var ctx context.Context = base
	if task.timeout > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, task.timeout, &TimeoutError{After: task.timeout})
		defer cancel()
		ctx = timed
	}
	emit(e.events, JobStarted{Job: job.shown()})
	if !task.inTx {
		e.watchPool(job.worker)
	}

	err := errExited
	defer func() {
		isOurs := e.end() // before the context is read, because the job may be lost until then
		cause := base.reason()
		if task.timeout > 0 {
			cause = context.Cause(ctx)
		}
		base.end(nil)
		if isOurs {
			e.conclude(job, task, time.Since(e.started), cause, err)
		}
	}()
	err = recovered(func() error { return e.call(ctx, job, task) })
}

// conclude reports the outcome of a job whose handler returned err.
func (e *executor) conclude(job *Job, task task, duration time.Duration, cause, err error) {
	o := outcome{job: job, started: true, duration: duration}
	switch { // a success is recorded without an allocation
	case err == nil && job.hold.isCommitted():
		o.verdict = committed
	case err != nil || cause != nil || job.hold.isCompleting():
		o = e.judge(o, task, cause, err)
	}
	if o.verdict == cut {
		e.pause()
	} else {
		e.losses.forget(job.ID)
	}
	e.tell(o)
	e.report(o)
}

func (e *executor) report(o outcome) {
	e.outcomes <- o
	e.backlog.ended(o)
}

var errDidNotReturn = errors.New("handler did not return after its context ended")

// abandon leaves a running handler behind and returns its jobs. The executor starts no other handler.
func (e *executor) abandon() {
	e.mu.Lock()
	jobs, started := e.jobs, e.started
	e.jobs, e.isOver = nil, true
	e.mu.Unlock()
	if jobs == nil {
		return
	}
	for _, job := range jobs {
		o := outcome{job: job, verdict: returned, started: true, interrupted: true, duration: time.Since(started)}
		o.err = errDidNotReturn
		o.message = o.err.Error()
		e.tell(o)
		e.report(o)
	}
	e.stopped()
}

// judge returns the outcome of a job whose handler returned err; cause is the reason why its context ended, if it has.
func (e *executor) judge(o outcome, task task, cause, err error) outcome {
	o.err = err
	switch {
	case o.job.hold.isCommitted():
		o.verdict = committed
		if err != nil {
			o.message = guard.Text(err)
		}
		return o
	case errors.Is(cause, ErrLeaseLost):
		o.verdict = lost
		return o
	case e.isLost(o.job, task, cause, err):
		o.verdict, o.message = cut, cleanMessage(guard.Text(err))
		return o
	case o.job.hold.isCompleting():
		// Only the database can tell whether the transaction was committed. Failing a job that is deleted changes
		// nothing.
		o.verdict, o.inTx = failed, true
		if err == nil {
			err = errNotCommitted
		}
	case err == nil:
		o.verdict = completed
		return o
	default:
		o.verdict = failed
	}

	o.message = guard.Text(err)
	if timeout, ok := errors.AsType[*TimeoutError](cause); ok && !guard.Is(err, timeout) {
		o.message = timeout.Error() + ": " + o.message
	}
	if errors.Is(cause, ErrCanceled) { // whatever the handler asks for, the database would not run the job again
		if !guard.Is(err, ErrCanceled) {
			o.message = cause.Error() + ": " + o.message
		}
		o.permanent = true
		o.askForRest(err)
		o.message = cleanMessage(o.message)
		return o
	}
	if request := requestOf(err); request != nil {
		request.ask(&o)
	}
	o.askForRest(err)
	switch {
	case o.snoozed || o.verdict == rateLimited || o.inTx && o.err == nil:
	case e.handling.Err() != nil:
		o.interrupt()
	case o.inTx:
	case o.delay == nil && task.backoff != nil:
		o.delay = customDelay(task.backoff, o.job.Attempts)
	}
	o.message = cleanMessage(o.message)
	return o
}

// interrupt returns the job of an interrupted handler, or the rest of it: completed elements of a batch must not be
// repeated.
func (o *outcome) interrupt() {
	o.interrupted, o.permanent, o.delay = true, false, nil
	if o.payload != nil && o.job.Attempts < o.job.MaxAttempts {
		o.delay = new(time.Duration(0))
		return
	}
	o.verdict = returned
}

// customDelay returns the delay of the task's own back-off, nil if it does not return one.
func customDelay(backoff func(int) time.Duration, attempt int) *time.Duration {
	return guard.Ask(nil, func() *time.Duration { return new(max(backoff(attempt), 0)) })
}

func (e *executor) tell(o outcome) {
	switch {
	case o.interrupted || o.verdict == cut || o.verdict == lost && o.err != nil:
		emit(e.events, JobInterrupted{Job: o.job.shown(), Duration: o.duration, Err: o.err})
	case o.err == nil:
		emit(e.events, JobSucceeded{Job: o.job.shown(), Duration: o.duration})
	case o.snoozed || o.verdict == rateLimited:
		emit(e.events, JobSnoozed{Job: o.job.shown(), Duration: o.duration, Delay: *o.delay})
	default:
		emit(e.events, JobErrored{Job: o.job.shown(), Duration: o.duration, Err: o.err})
	}
}
