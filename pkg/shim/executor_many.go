package shim

import (
	"context"
	"time"
)

// executeMany is execute for a handler of several jobs.
func (e *executor) executeMany(jobs []*Job, task task) {
	for _, job := range jobs {
		emit(e.events, JobStarted{Job: job})
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
			errs = make([]error, len(jobs))
			for i := range errs {
				errs[i] = err
			}
		}
		e.concludeMany(jobs, task, causes, errorsOf(errs, len(jobs)))
	}()
	err = recovered(func() error {
		errs = task.many(ctx, jobs)
		return nil
	})
}

// concludeMany reports the outcomes of jobs whose handler returned errs.
func (e *executor) concludeMany(jobs []*Job, task task, causes, errs []error) {
	share := time.Since(e.started) / time.Duration(len(jobs))
	for i, job := range jobs {
		e.conclude(job, task, share, causes[i], errs[i])
	}
}
