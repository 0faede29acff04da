package shim

import (
	"context"
	"slices"
	"time"
)

// executeMany is execute for a handler of several jobs.
func (e *executor) executeMany(jobs []*Job, task task) {
	for _, job := range jobs {
		emit(e.events, JobStarted{Job: job.shown()})
	}
	e.watchPool(jobs[0].worker)
	ctx := e.handling
	if len(jobs) == 1 {
		ctx = &jobs[0].hold.context // this job may end the context, because there are no others
	}
	if task.timeout > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, task.timeout, &TimeoutError{After: task.timeout})
		defer cancel()
		ctx = timed
	}

	var errs []error
	err := errExited
	defer func() {
		isOurs := e.end() // before the contexts are read, because jobs may be lost until then
		causes := make([]error, len(jobs))
		for i, job := range jobs {
			if causes[i] = job.hold.context.reason(); causes[i] == nil {
				causes[i] = context.Cause(ctx)
			}
			job.hold.context.end(nil)
		}
		if !isOurs {
			return
		}
		if err != nil {
			errs = slices.Repeat([]error{err}, len(jobs))
		}
		share := time.Since(e.started) / time.Duration(len(jobs))
		for i, err := range errorsOf(errs, len(jobs)) {
			e.conclude(jobs[i], task, share, causes[i], err)
		}
	}()
	err = recovered(func() error {
		errs = task.many(ctx, shown(jobs))
		return nil
	})
}
