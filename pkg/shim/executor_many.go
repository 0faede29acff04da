package shim

import (
	"context"
	"time"
)

// executeMany is execute for jobs that one handler works at once.
func (e *executor) executeMany(jobs []*Job, task task) {
	bases := make([]handlerContext, len(jobs))
	for i, job := range jobs {
		bases[i].Context, bases[i].job = e.handling, job
		e.running.enter(job, &bases[i], e.started)
		emit(e.events, JobStarted{Job: job})
	}
	ctx := e.handling
	if len(jobs) == 1 {
		ctx = &bases[0] // it may end because of this job without harm to others
	}
	if task.timeout > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, task.timeout, &TimeoutError{After: task.timeout})
		defer cancel()
		ctx = timed
	}

	var errs []error
	err := errExited
	defer func() {
		causes := make([]error, len(jobs))
		for i, job := range jobs {
			if causes[i] = bases[i].reason(); causes[i] == nil {
				causes[i] = context.Cause(ctx)
			}
			e.running.leave(job)
			bases[i].end(nil)
		}
		if err != nil {
			errs = make([]error, len(jobs))
			for i := range errs {
				errs[i] = err
			}
		}
		e.finishMany(task, causes, errorsOf(errs, len(jobs)))
	}()
	err = recovered(func() error {
		errs = task.many(ctx, jobs)
		return nil
	})
}

// finishMany reports what becomes of jobs whose handler returned errs.
func (e *executor) finishMany(task task, causes, errs []error) {
	jobs := e.end()
	if e.isLeft = jobs == nil; e.isLeft {
		return
	}
	share := time.Since(e.started) / time.Duration(len(jobs))
	for i, job := range jobs {
		e.conclude(job, task, share, causes[i], errs[i])
	}
}
