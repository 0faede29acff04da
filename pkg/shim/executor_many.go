package shim

import (
	"context"
	"time"
)

// executeMany is execute for jobs that one handler works at once.
func (e *executor) executeMany(jobs []*Job, task task) {
	for _, job := range jobs {
		emit(e.events, JobStarted{Job: job})
	}
	ctx := e.handling
	if len(jobs) == 1 {
		ctx = &jobs[0].hold.context // it may end because of this job without harm to others
	}
	if task.timeout > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, task.timeout, &TimeoutError{After: task.timeout})
		defer cancel()
		ctx = timed
	}

	var errs []error
	err := errExited
	defer func() {
		isOurs := e.end() // before their contexts are looked at, as they may be lost until then
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

// concludeMany reports what becomes of jobs whose handler returned errs.
func (e *executor) concludeMany(jobs []*Job, task task, causes, errs []error) {
	share := time.Since(e.started) / time.Duration(len(jobs))
	for i, job := range jobs {
		e.conclude(job, task, share, causes[i], errs[i])
	}
}
