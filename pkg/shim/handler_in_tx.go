package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// TxHandler runs one job in a transaction that the worker commits together with the completion of the job. What it
// returns means what it means for a [Handler]; after an error or a panic its writes are rolled back.
//
// The transaction begins when tx is first used: a handler that does not use it costs none. Commit and Rollback return
// an error, because the worker ends the transaction; Begin makes savepoints.
type TxHandler func(ctx context.Context, tx pgx.Tx, job *Job) error

// TypedTx returns the handler that [HandleTx] registers, or nil if fn is nil. It is meant for tests of handlers.
func TypedTx[T any](fn func(ctx context.Context, tx pgx.Tx, payload T, job *Job) error) TxHandler {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx, job *Job) error {
		return Typed(func(ctx context.Context, payload T, job *Job) error { return fn(ctx, tx, payload, job) })(ctx,
			job)
	}
}

// handler returns the handler that passes the transaction of its job, so that middleware applies inside the
// transaction.
func (h TxHandler) handler() Handler {
	return func(ctx context.Context, job *Job) error {
		if job.hold == nil || job.hold.tx == nil {
			return errNoTx
		}
		return job.hold.tx.try(ctx, func(tx pgx.Tx) error { return h(ctx, tx, job) })
	}
}

// ManyTxHandler runs several jobs of one task in a transaction that the worker commits together with the completion of
// all of them. A nil error completes all; after an error or a panic nothing of the call is kept.
//
// The context ends as that of a [ManyHandler] does, and also when one of the jobs is canceled or lost.
type ManyTxHandler func(ctx context.Context, tx pgx.Tx, jobs []*Job) error

// TypedManyTx returns the handler that [HandleManyTx] registers, or nil if fn is nil. It is meant for tests of
// handlers.
func TypedManyTx[T any](fn func(ctx context.Context, tx pgx.Tx, payloads []T, jobs []*Job) error) ManyTxHandler {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx, jobs []*Job) error {
		payloads := make([]T, len(jobs))
		for i, job := range jobs {
			if err := json.Unmarshal(job.Payload, &payloads[i]); err != nil {
				return fmt.Errorf("decode payload of job %d: %w", job.ID, err)
			}
		}
		return fn(ctx, tx, payloads, jobs)
	}
}

// handler returns the handler that passes the transaction of its jobs, so that middleware applies inside the
// transaction.
func (h ManyTxHandler) handler() ManyHandler {
	return func(ctx context.Context, jobs []*Job) []error {
		own, err := ownOf(jobs)
		if err != nil {
			return slices.Repeat([]error{err}, len(jobs))
		}
		tx := own[0].hold.tx
		tx.jobs = own
		err = tx.try(ctx, func(tx pgx.Tx) error { return h(ctx, tx, jobs) })
		return slices.Repeat([]error{err}, len(jobs))
	}
}

// callInTx is the handlerCall of a handler of one job in a transaction of the worker.
func (h Handler) callInTx(ctx context.Context, jobs []*Job, errs []error) {
	jobs = slices.Clone(jobs)
	tx := newHandlerTx(ctx, jobs)
	tx.jobs = jobs
	err := errExited
	defer func() { tx.close(err) }()
	lost, err := tx.commit(h(jobs[0].within(ctx), jobs[0].shown()))
	if len(lost) > 0 {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	errs[0] = err
}
