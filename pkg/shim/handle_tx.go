package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// TxHandler runs one job in a transaction that the worker commits together with the completion of the job. What it returns
// means what it means for a [Handler]; after an error or a panic its writes are rolled back.
//
// The transaction begins when tx is first used: a handler that does not use it costs none. Commit and Rollback return an
// error, because the worker ends the transaction; Begin makes savepoints.
type TxHandler func(ctx context.Context, tx pgx.Tx, job *Job) error

// HandleTx registers a handler that writes to the database of the queue by a transaction of the worker: everything that it
// writes by tx is done exactly once, because it is committed together with the completion of its job.
//
// While many jobs of the task are due and they are short, the worker runs them in batches: it locks the next jobs, calls
// the handler for one after the other, deletes the completed ones and commits. So no claim is written, and there is one
// commit for many jobs. A job that fails is rolled back to a savepoint and does not undo its neighbours. A batch takes
// about 50 ms, and ends between two jobs; a handler that takes far longer than those before it holds the transaction open
// for as long, so set a [Timeout]. If the connection is lost or the commit fails, all jobs of the batch run again. Then
// effects outside of the transaction, such as requests to other services, happen again, too; use [TxPerJob] if that must be
// rare.
//
// Jobs in a batch share what belongs to a transaction: now(), settings made by SET LOCAL, locks. They have not been
// claimed, so list_jobs does not show them as running, and their steps cannot be saved: jobs that call [Step] run one by
// one. Batches run at READ COMMITTED only, and take only jobs without a key, a queue, flags or limits whose payload is
// small and that have never failed. The others have a transaction each.
//
// A running handler that uses tx holds a connection of the pool. It should not take another one.
func (w *Worker) HandleTx(name string, fn TxHandler, options ...TaskOption) {
	w.handle(Task{Name: name, Tx: fn, Options: options})
}

// HandleTx registers fn as [Worker.HandleTx] does, and decodes each job's JSON payload into a T. A payload that cannot be
// decoded fails the attempt.
func HandleTx[T any](
	w *Worker, task string, fn func(ctx context.Context, tx pgx.Tx, payload T, job *Job) error, options ...TaskOption,
) {
	w.HandleTx(task, TypedTx(fn), options...)
}

// TypedTx returns the handler that [HandleTx] registers, or nil if fn is nil. It is meant for tests of handlers.
func TypedTx[T any](fn func(ctx context.Context, tx pgx.Tx, payload T, job *Job) error) TxHandler {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx, job *Job) error {
		var payload T
		if err := json.Unmarshal(job.Payload, &payload); err != nil {
			return fmt.Errorf("decode payload: %w", err)
		}
		return fn(ctx, tx, payload, job)
	}
}

// TxPerJob gives each job of a task with a [TxHandler] a transaction of its own, so that no job runs again because of
// another one. Set it if handlers have effects outside of the transaction, take locks that others wait for, or need a now()
// of their own. It has no effect on other tasks.
func TxPerJob() TaskOption {
	return func(t *task) error {
		t.txPerJob = true
		return nil
	}
}

var errNoTx = errors.New("the handler got another job than the worker has passed, so it has no transaction")

// handler returns the handler that passes the transaction of its job, so that middleware applies inside the transaction.
// What a call wrote that fails is undone at once, so middleware may call it again.
func (h TxHandler) handler() Handler {
	return func(ctx context.Context, job *Job) error {
		if job.hold == nil || job.hold.tx == nil {
			return errNoTx
		}
		tx := job.hold.tx
		tx.ctx = ctx
		err := errExited
		defer func() {
			if err != nil {
				tx.undo()
			}
		}()
		err = h(ctx, tx, job)
		return err
	}
}
