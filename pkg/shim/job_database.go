package shim

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/sqlstate"
)

// Client returns a client on the pool and schema of the job's worker. Jobs that it adds stay whether or not this job
// succeeds; with [Client.With] they belong to a transaction. If no worker claimed the job, the client's calls return
// errors.
func (j *Job) Client() *Client {
	if j.worker == nil {
		return NewClient(nil, ClientConfig{})
	}
	return j.worker.client()
}

// WithConn calls fn with a connection of the worker's pool, which fn must not retain, and returns its error. If the
// connection cannot be had or breaks meanwhile, a handler that returns this error does not fail its attempt; see
// [Handler].
func (j *Job) WithConn(ctx context.Context, fn func(*pgx.Conn) error) error {
	if j.worker == nil {
		return errNoWorker
	}
	when, isBroken := atBegin, true
	err := j.worker.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		when = inStatement
		err := fn(conn.Conn())
		isBroken = conn.Conn().IsClosed()
		return err
	})
	if isBroken {
		return asLost(ctx, err, when)
	}
	return err
}

// Query runs a statement on the worker's pool. Close the rows, or read them to the end, to release the connection.
func (j *Job) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if j.worker == nil {
		return nil, errNoWorker
	}
	return j.worker.pool.Query(ctx, sql, args...)
}

// CompleteTx completes the job within a transaction of the handler, in the database of the queue. Everything else that
// the transaction does is then done exactly once, because it is committed together with the completion of the job.
//
// For a handler that is given the transaction, the worker does this: see [Worker.HandleTx], for which CompleteTx
// returns an error.
//
// CompleteTx returns an error matching [ErrLeaseLost] if the job is no longer this worker's; roll back in that case.
// The transaction may be retried, for example after a serialization failure.
//
// Commit or roll back before the handler returns: a transaction that is still open after that prevents the worker from
// reporting any job. After a commit the handler's result does not matter: the job is completed. Without one the attempt
// fails, even if the handler returns nil; but if the connection was lost, return its error, so that the attempt does
// not count: see [Handler]. After the call the worker no longer renews its lock on the job, which other
// workers free after four hours.
func (j *Job) CompleteTx(ctx context.Context, tx DB) error {
	return j.completeByHandler(ctx, j.Client().With(tx))
}

// CompleteSQLTx is [Job.CompleteTx] for database/sql.
func (j *Job) CompleteSQLTx(ctx context.Context, tx SQLDB) error {
	return j.completeByHandler(ctx, j.Client().WithSQL(tx))
}

func (j *Job) completeByHandler(ctx context.Context, c *Client) error {
	if j.hold.isWorkersTx() {
		return fmt.Errorf("complete job %d: %w", j.ID, errCompletes)
	}
	if j.worker == nil {
		return fmt.Errorf("complete job %d: %w", j.ID, errNoWorker)
	}
	j.hold.renewing.Lock() // an answer to a renewal may be in flight
	lease, before := j.hold.lease.Load(), j.hold.completing.Swap(true)
	j.hold.renewing.Unlock()
	done, err := singleValue[bool](ctx, c,
		`select S.complete_job($1::text, $2::bigint, $3::bigint, $4::json)`, j.worker.workerID, j.own().ID, lease,
		rows.OrNull(j.hold.result))
	if err == nil && !done {
		err = ErrLeaseLost
	}
	if err == nil {
		return nil
	}
	j.hold.completing.Store(before)
	if err = fmt.Errorf("complete job %d: %w", j.ID, err); ctx.Err() == nil && sqlstate.IsLostConnection(err) {
		return &lostError{err, inStatement}
	}
	return err
}
