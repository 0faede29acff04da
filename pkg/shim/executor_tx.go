package shim

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// call calls the handler of a job.
func (e *executor) call(ctx context.Context, job *Job, task task) error {
	switch {
	case !task.inTx:
		return task.handler(job.within(ctx), job)
	case e.batch != nil:
		return e.batch.call(ctx, job, task)
	}
	return callInTx(ctx, job, task)
}

// callInTx calls the handler of a claimed job with a transaction of its own. If the handler has used it, the job is
// completed in it.
func callInTx(ctx context.Context, job *Job, task task) error {
	tx := &handlerTx{
		begin:    job.worker.pool.Begin,
		rollBack: func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) },
	}
	return tx.call(ctx, job, task, func(err error) error {
		if err != nil || tx.tx == nil {
			return err
		}
		return tx.complete(job)
	})
}

// complete completes the job and commits. What it returns is the error of the attempt, unless the job is gone.
func (t *handlerTx) complete(job *Job) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), callTimeout)
	defer cancel()
	if err := job.completeOn(ctx, job.Client().With(t.tx)); err != nil {
		return err
	}
	if err := t.tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit the transaction of the handler: %w", err)
	}
	job.hold.committed.Store(true)
	return nil
}

// setBatch records the batch whose handlers run next, nil for none.
func (e *executor) setBatch(batch *txBatch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batch = batch
}
