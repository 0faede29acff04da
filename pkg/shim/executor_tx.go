package shim

import "context"

// call calls the handler of a job.
func (e *executor) call(ctx context.Context, job *Job, task task) error {
	if !task.inTx {
		return task.handler(job.within(ctx), job)
	}
	tx := newHandlerTx(ctx, []*Job{job})
	tx.jobs = []*Job{job}
	err := errExited
	defer func() { tx.close(err) }()
	if err = task.handler(job.within(ctx), job); err == nil {
		err = tx.check()
	}
	if err != nil {
		err = tx.fault(err)
	}
	if err == nil && tx.tx != nil {
		var lost []*Job
		if lost, err = tx.complete(); lost != nil {
			e.lose(job)
		}
	}
	return err
}
