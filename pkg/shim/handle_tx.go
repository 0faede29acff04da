package shim

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// TxHandler runs one job in a transaction that the worker commits together with the completion of the job. What it returns
// means what it means for a [Handler]; after an error or a panic its writes are rolled back.
//
// The transaction begins when tx is first used: a handler that does not use it costs none. Commit and Rollback return an
// error, because the worker ends the transaction; Begin makes savepoints.
type TxHandler func(ctx context.Context, tx pgx.Tx, job *Job) error

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

// handler returns the handler that passes the transaction of its job, so that middleware applies inside the transaction.
func (h TxHandler) handler() Handler {
	return func(ctx context.Context, job *Job) error {
		if job.hold == nil || job.hold.tx == nil {
			return errNoTx
		}
		return job.hold.tx.try(ctx, func(tx pgx.Tx) error { return h(ctx, tx, job) })
	}
}
