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
// If the connection of tx is lost, also while a statement of the handler runs, or cannot be had, the attempt does not count, whatever the
// handler returns; see [Handler].
//
// A running handler that uses tx holds a connection of the pool. It should not take another one.
//
// Use [Worker.HandleManyTx] for jobs that can share a transaction, and [Job.CompleteTx] if the handler needs to begin its transaction
// itself, for example at another isolation level.
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

var errNoTx = errors.New("the handler got another job than the worker has passed, so it has no transaction")

// handler returns the handler that passes the transaction of its job, so that middleware applies inside the transaction.
func (h TxHandler) handler() Handler {
	return func(ctx context.Context, job *Job) error {
		if job.hold == nil || job.hold.tx == nil {
			return errNoTx
		}
		return job.hold.tx.try(ctx, func(tx pgx.Tx) error { return h(ctx, tx, job) })
	}
}
