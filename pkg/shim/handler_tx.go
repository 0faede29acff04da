package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	tx := newHandlerTx(ctx, jobs)
	tx.jobs, errs[0] = jobs, errExited
	defer func() {
		lost, err := tx.finish(errs[0])
		if len(lost) > 0 {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		errs[0] = err
	}()
	errs[0] = h(jobs[0].within(ctx), jobs[0].shown())
}

// newHandlerTx returns the transaction of a call for these jobs, of which the handler may be given some.
func newHandlerTx(ctx context.Context, jobs []*Job) *handlerTx {
	t := &handlerTx{worker: jobs[0].worker, ctx: ctx}
	for _, job := range jobs {
		job.hold.tx = t
	}
	return t
}

// try calls a handler. What a call wrote that fails is undone at once, so middleware may call it again.
func (t *handlerTx) try(ctx context.Context, call func(pgx.Tx) error) (err error) {
	t.ctx, err = ctx, errExited
	defer func() {
		if err != nil {
			t.undo()
		}
	}()
	err = call(t)
	return err
}

func (t *handlerTx) used(ctx context.Context) (pgx.Tx, error) {
	if t.over {
		return nil, pgx.ErrTxClosed
	}
	if t.tx != nil {
		return t.tx, nil
	}
	conn, err := t.worker.pool.Acquire(ctx)
	if err == nil {
		if t.tx, err = conn.Begin(ctx); err != nil {
			conn.Release()
		}
	}
	if err != nil {
		t.err = asLost(ctx, fmt.Errorf("begin the transaction of the handler: %w", err), atBegin)
		return nil, t.err
	}
	t.conn, t.err, t.lost = conn, nil, false
	return t.tx, nil
}

// finish ends what the handler may do. It completes the jobs of a call that has ended with err, or undoes what the
// handler has written. It returns why it was not committed, and the jobs that the worker no longer holds if they are
// the reason.
func (t *handlerTx) finish(err error) (lost []*Job, _ error) {
	if t.over = true; err == nil {
		err = t.check()
	}
	switch {
	case err != nil:
		err = t.fault(err)
	case t.tx != nil:
		lost, err = t.complete()
	}
	if err != nil {
		t.undo()
	}
	return lost, err
}

// check returns why the transaction of a handler that has returned nil cannot be committed.
func (t *handlerTx) check() error {
	if t.tx == nil {
		return t.err
	}
	conn := t.conn.Conn().PgConn()
	switch {
	case conn.IsClosed():
		return errTxLost
	case conn.IsBusy():
		return errTxBusy
	case conn.TxStatus() == 'E':
		return errTxAborted
	case conn.TxStatus() != 'T':
		return errTxEnded
	}
	return nil
}

// complete completes the jobs of the call and commits, in one round trip. It returns the jobs that the worker no longer
// holds, because of which the transaction cannot be committed.
func (t *handlerTx) complete() (lost []*Job, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), callTimeout)
	defer cancel()
	c := newCompletion(t.jobs)
	all := &pgx.Batch{}
	all.Queue(c.SQL, c.Args...)
	all.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() == "ROLLBACK" {
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	if err := t.conn.Conn().SendBatch(ctx, all).Close(); err != nil {
		err = fmt.Errorf("complete the jobs of the transaction: %w", err)
		if t.conn.Conn().IsClosed() { // only the database knows whether it was committed
			return nil, &lostError{err, atCompletion}
		}
		return c.RolledBack(err), err
	}
	c.Committed()
	t.conn.Release()
	t.conn, t.tx = nil, nil
	return nil, nil
}

// undo rolls back what the handler has written. If that is impossible, the connection is closed, which has the same
// effect.
func (t *handlerTx) undo() {
	if t.tx == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), callTimeout)
	defer cancel()
	conn := t.conn
	defer conn.Release()
	t.conn, t.tx = nil, nil
	if t.lost = conn.Conn().IsClosed(); t.lost || conn.Conn().PgConn().TxStatus() == 'I' { // or its end has failed
		return
	}
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		_ = conn.Conn().Close(ctx)
		t.err = fmt.Errorf("roll back the transaction of the handler: %w", err)
	}
}

// fault returns the error of a call that has failed with err: the one that says so if the connection of the transaction
// was lost.
func (t *handlerTx) fault(err error) error {
	if _, isLost := lostWhen(err); isLost {
		return err
	}
	if _, isLost := lostWhen(t.err); isLost && t.tx == nil {
		return &lostError{err, atBegin}
	}
	if t.lost || t.tx != nil && t.conn.Conn().IsClosed() {
		return asLost(t.ctx, err, inStatement)
	}
	return err
}

// onTx passes the transaction to fn.
func onTx[T any](ctx context.Context, t *handlerTx, fn func(pgx.Tx) (T, error)) (result T, err error) {
	tx, err := t.used(ctx)
	if err != nil {
		return result, err
	}
	return fn(tx)
}

// Begin begins a pseudo nested transaction: a savepoint.
func (t *handlerTx) Begin(ctx context.Context) (pgx.Tx, error) {
	return onTx(ctx, t, func(tx pgx.Tx) (pgx.Tx, error) { return tx.Begin(ctx) })
}

func (t *handlerTx) Commit(context.Context) error   { return errWorkersTx }
func (t *handlerTx) Rollback(context.Context) error { return errWorkersTx }

func (t *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return onTx(ctx, t, func(tx pgx.Tx) (pgconn.CommandTag, error) { return tx.Exec(ctx, sql, args...) })
}

func (t *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	tx, err := t.used(ctx)
	if err != nil {
		return pgx.FailedBatchResults(&pgx.Batch{}, err).Query()
	}
	return tx.Query(ctx, sql, args...)
}

func (t *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	tx, err := t.used(ctx)
	if err != nil {
		return pgx.FailedBatchResults(&pgx.Batch{}, err).QueryRow()
	}
	return tx.QueryRow(ctx, sql, args...)
}

func (t *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	tx, err := t.used(ctx)
	if err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	return tx.SendBatch(ctx, b)
}

func (t *handlerTx) CopyFrom(
	ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource,
) (int64, error) {
	return onTx(ctx, t, func(tx pgx.Tx) (int64, error) { return tx.CopyFrom(ctx, table, columns, rows) })
}

func (t *handlerTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return onTx(ctx, t, func(tx pgx.Tx) (*pgconn.StatementDescription, error) { return tx.Prepare(ctx, name, sql) })
}

func (t *handlerTx) LargeObjects() pgx.LargeObjects { return t.begun().LargeObjects() }
func (t *handlerTx) Conn() *pgx.Conn                { return t.begun().Conn() }

// begun is used for methods that cannot return an error: it panics if the transaction cannot begin, and the worker
// recovers that.
func (t *handlerTx) begun() pgx.Tx {
	tx, err := t.used(t.ctx)
	if err != nil {
		panic(err)
	}
	return tx
}

// ownOf returns the jobs of the worker of which a handler was given copies.
func ownOf(copies []*Job) ([]*Job, error) {
	jobs := make([]*Job, len(copies))
	for i, job := range copies {
		if job == nil || job.hold == nil || job.hold.tx == nil {
			return nil, errNoTx
		}
		jobs[i] = job.own()
	}
	return jobs, nil
}

var errNoTx = errors.New("the handler got another job than the worker has passed, so it has no transaction")
