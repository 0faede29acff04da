package shim

import (
	"errors"
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
