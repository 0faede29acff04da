package shim

import (
	"errors"
	"slices"
	"time"
)

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
		if task.most > 0 {
			jobs = e.backlog.more(job, task.most)
		}
		switch {
		case !served || !e.canceled.allows(e.handling, job) || !e.begin(jobs):
			for _, job := range jobs {
				e.giveBack(job)
			}
			continue
		case task.together != nil:
			e.executeManyTx(jobs, task)
		default:
			e.execute(jobs, task)
		}
		if e.isLeft {
			return
		}
		e.watch.End()
	}
	exited = false
	e.stopped()
}

// execute calls the handler of jobs, of which there are several only of a handler of many, and concludes them. In
// events each has its share of the time.
func (e *executor) execute(jobs []*Job, task taskEntry) {
	for _, job := range jobs {
		emit(e.events, JobStarted{Job: job.shown()})
	}
	if !task.inTx {
		e.watch.Begin(e.pool, e.started)
	}
	ctx, release := e.contextOf(jobs, task)
	defer release()
	errs := e.failed[:]
	if len(jobs) > 1 {
		errs = make([]error, len(jobs))
	}
	err := errExited
	defer func() {
		isOurs := e.end(jobs) // before the contexts are read, because jobs may be lost until then
		share, call := time.Since(e.started)/time.Duration(len(jobs)), causeOf(ctx)
		for i, job := range jobs {
			cause := endOf(call, job)
			if err != nil {
				errs[i] = err
			}
			if isOurs {
				e.conclude(job, task, share, cause, errs[i])
			}
		}
		clear(errs)
	}()
	err = recovered(func() error {
		task.call(ctx, jobs, errs)
		return nil
	})
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
		o := outcome{job: job, verdict: verdictReturned, started: true, interrupted: true,
			duration: time.Since(started)}
		o.err = errDidNotReturn
		o.message = o.err.Error()
		e.deliver(o)
	}
	e.stopped()
}

// executeManyTx is execute for a handler of several jobs in one transaction. If a call for several jobs fails, each of
// them runs alone, in the same claim. So do jobs after one of them has lost its connection, because it may be the
// cause.
func (e *executor) executeManyTx(jobs []*Job, task taskEntry) {
	for _, job := range jobs {
		emit(e.events, JobStarted{Job: job.shown()})
	}
	for together := !e.losses.haveAny(jobs); together && len(jobs) > 1; {
		jobs, together = e.runTogether(jobs, task)
	}
	for i, job := range jobs {
		if cause := job.hold.context.reason(); cause != nil { // meanwhile
			e.settle(jobs[i:i+1], task, 0, nil, []error{cause})
			continue
		}
		c := e.callManyTx(jobs[i:i+1], task)
		e.settle(jobs[i:i+1], task, c.took, c.cause, c.errs)
		if when, isLost := lostWhen(c.err); isLost && when == atBegin {
			rest := jobs[i+1:]
			e.settle(rest, task, 0, nil, slices.Repeat([]error{c.err}, len(rest)))
			return
		}
	}
}

// runTogether calls the handler for several jobs. It returns those that have to run again, and whether they may run
// together, because the call was rolled back only for the sake of others.
func (e *executor) runTogether(jobs []*Job, task taskEntry) (again []*Job, together bool) {
	c := e.callManyTx(jobs, task)
	when, isLost := lostWhen(c.err)
	isOver := c.err == nil || e.handling.Err() != nil || isLost && when != inStatement
	var over []*Job
	var errs []error
	for i, job := range jobs {
		isGone := e.isGone(job)
		together = together || isGone
		if isOver || isGone || !slices.Contains(c.tx.jobs, job) {
			over, errs = append(over, job), append(errs, c.errs[i])
		} else {
			again = append(again, job)
		}
	}
	e.settle(over, task, c.took/time.Duration(len(jobs)), c.cause, errs)
	return again, together
}

type txCall struct {
	tx    *handlerTx // its jobs are those that the handler was called for
	errs  []error    // of all jobs
	err   error      // why nothing of the call was kept, nil if these jobs are completed
	cause error      // why the context ended, unless because of one of several jobs
	took  time.Duration
}

func (e *executor) callManyTx(jobs []*Job, task taskEntry) *txCall {
	began := time.Now()
	ctx, release := e.contextOf(jobs, task)
	defer release()
	c := &txCall{tx: newHandlerTx(ctx, jobs), errs: slices.Repeat([]error{errExited}, len(jobs))}
	ended := make(chan struct{})
	go func() { // which the handler may end
		defer close(ended)
		err := recovered(func() error {
			c.errs = errorsOf(task.together(ctx, shown(jobs)), len(jobs))
			return nil
		})
		if err != nil {
			c.errs = slices.Repeat([]error{err}, len(jobs))
		}
	}()
	<-ended
	e.completeTx(c, jobs)
	c.cause, c.took = causeOf(ctx), time.Since(began)
	if len(jobs) > 1 && (errors.Is(c.cause, ErrLeaseLost) || errors.Is(c.cause, ErrCanceled)) {
		c.cause = nil
	}
	return c
}

// completeTx completes the jobs of a call whose handler has returned, or rolls it back.
func (e *executor) completeTx(c *txCall, jobs []*Job) {
	for i, job := range jobs {
		if c.err == nil && slices.Contains(c.tx.jobs, job) {
			c.err = c.errs[i]
		}
	}
	if c.err == nil && len(jobs) > 1 && slices.ContainsFunc(c.tx.jobs, e.isGone) {
		c.err = errGone
	}
	lost, err := c.tx.finish(c.err)
	for _, job := range lost {
		e.interrupt(job, ErrLeaseLost)
	}
	c.err = err
	_, isLost := lostWhen(c.err)
	for i, job := range jobs {
		if (c.errs[i] == nil || isLost) && slices.Contains(c.tx.jobs, job) {
			c.errs[i] = c.err
		}
	}
}

// settle concludes jobs whose handler has returned errs. cause is why the context of the call has ended.
func (e *executor) settle(jobs []*Job, task taskEntry, took time.Duration, cause error, errs []error) {
	isOurs := len(jobs) > 0 && e.end(jobs)
	for i, job := range jobs {
		if own := endOf(cause, job); isOurs {
			e.conclude(job, task, took, own, errs[i])
		}
	}
}
