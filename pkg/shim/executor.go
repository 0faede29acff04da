package shim

import (
	"context"
	"errors"
	"time"
)

// executor runs handlers, one after the other. A worker has as many as its concurrency.
type executor struct {
	handlers map[string]Handler
	backlog  *backlog
	outcomes chan<- outcome
	running  *running

	// handlers run under this context; it ends with the grace time.
	handling context.Context
	// abandoned is closed when handlers that ignored the end of their context had their time, too.
	abandoned <-chan struct{}
}

// run runs until the backlog is closed and its last handler has returned.
func (e *executor) run() {
	for job := e.backlog.next(); job != nil; job = e.backlog.next() {
		o := e.execute(job)
		e.outcomes <- o
		e.backlog.finished(o.duration)
	}
}

func (e *executor) execute(job *Job) outcome {
	started := time.Now()
	ctx, end := context.WithCancelCause(e.handling)
	defer end(nil)
	e.running.enter(job, end)
	defer e.running.leave(job)
	result := e.handlers[job.TaskIdentifier].start(ctx, job)
	o := outcome{job: job}
	select {
	case err := <-result:
		switch {
		case errors.Is(context.Cause(ctx), ErrLeaseLost):
			o.verdict = lost
		case err == nil:
			o.verdict = completed
		case e.handling.Err() != nil:
			o.verdict, o.interrupted, o.message = returned, true, err.Error()
		default:
			o.verdict, o.message = failed, cleanMessage(err.Error())
		}
	case <-e.abandoned:
		o.verdict, o.interrupted, o.message = returned, true, "handler ignored the end of its context"
	}
	o.duration = time.Since(started)
	return o
}
