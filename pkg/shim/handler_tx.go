package shim

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	errWorkersTx = errors.New("the worker ends this transaction: return nil to commit it, an error to roll it back")
	errCompletes = errors.New("the worker completes this job with the transaction that it gave to the handler")
	errTxAborted = errors.New("the transaction is aborted by an error of a statement, which the handler did not return")
	errTxEnded   = errors.New("the handler has ended the transaction, which is the worker's, by a statement")
	errTxBusy    = errors.New("the handler has left rows of the transaction open")
	errTxLost    = errors.New("the connection of the transaction is closed")
)

// handlerTx is the transaction of a job's handler. It begins when it is first used, and again after it was undone.
type handlerTx struct {
	begin    func(context.Context) (pgx.Tx, error)
	rollBack func(context.Context, pgx.Tx) error
	batch    *txBatch // nil without

	ctx  context.Context // of the handler
	tx   pgx.Tx          // nil until it begins
	err  error           // why it could not begin
	over bool            // the handler has returned
}

// call calls the handler of a job, which may use the transaction until it returns, and then end with its error, or with the
// reason why the transaction cannot be committed. Unless end returns nil, what the handler has written is undone.
func (t *handlerTx) call(ctx context.Context, job *Job, task task, end func(error) error) (err error) {
	t.ctx, job.hold.tx = ctx, t
	err = errExited
	defer func() {
		if t.over = true; err != nil {
			t.undo()
		}
	}()
	if err = task.handler(job.within(ctx), job); err == nil {
		err = t.check()
	}
	err = end(err)
	return err
}

// used returns the transaction for a statement of the handler.
func (t *handlerTx) used(ctx context.Context) (pgx.Tx, error) {
	if t.over {
		return nil, pgx.ErrTxClosed
	}
	if t.tx == nil {
		tx, err := t.begin(ctx)
		if err != nil {
			t.err = fmt.Errorf("begin the transaction of the handler: %w", err)
			return nil, t.err
		}
		t.tx, t.err = tx, nil
	}
	return t.tx, nil
}

// first sends the first statement of a job in a batch. It returns nil for others.
func (t *handlerTx) first(ctx context.Context, sql string, args []any) pgx.BatchResults {
	if t.batch == nil || t.tx != nil || t.over {
		return nil
	}
	results := t.batch.sendFirst(ctx, sql, args)
	if results != nil {
		t.tx = t.batch.tx
	}
	return results
}

// check returns why the transaction of a handler that has returned nil cannot be committed.
func (t *handlerTx) check() error {
	if t.tx == nil {
		return t.err
	}
	conn := t.tx.Conn().PgConn()
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

// undo rolls back what the handler has written. If that is impossible, the connection is closed, which has the same effect.
func (t *handlerTx) undo() {
	if t.tx == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), callTimeout)
	defer cancel()
	tx := t.tx
	t.tx = nil
	if err := t.rollBack(ctx, tx); err != nil {
		t.err = fmt.Errorf("roll back the transaction of the handler: %w", err)
	}
}

// Begin begins a pseudo nested transaction: a savepoint.
func (t *handlerTx) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := t.used(ctx)
	if err != nil {
		return nil, err
	}
	return tx.Begin(ctx)
}

func (t *handlerTx) Commit(context.Context) error   { return errWorkersTx }
func (t *handlerTx) Rollback(context.Context) error { return errWorkersTx }

func (t *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if results := t.first(ctx, sql, args); results != nil {
		return execFirst(results)
	}
	tx, err := t.used(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	return tx.Exec(ctx, sql, args...)
}

func (t *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if results := t.first(ctx, sql, args); results != nil {
		return queryFirst(results)
	}
	tx, err := t.used(ctx)
	if err != nil {
		return pgx.FailedBatchResults(&pgx.Batch{}, err).Query()
	}
	return tx.Query(ctx, sql, args...)
}

func (t *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if results := t.first(ctx, sql, args); results != nil {
		return firstRow{results}
	}
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
	tx, err := t.used(ctx)
	if err != nil {
		return 0, err
	}
	return tx.CopyFrom(ctx, table, columns, rows)
}

func (t *handlerTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	tx, err := t.used(ctx)
	if err != nil {
		return nil, err
	}
	return tx.Prepare(ctx, name, sql)
}

// LargeObjects panics if the transaction cannot begin, as it cannot return an error; the worker recovers that.
func (t *handlerTx) LargeObjects() pgx.LargeObjects {
	tx, err := t.used(t.ctx)
	if err != nil {
		panic(err)
	}
	return tx.LargeObjects()
}

// Conn returns the connection of the transaction. It panics if the transaction cannot begin, as LargeObjects does.
func (t *handlerTx) Conn() *pgx.Conn {
	tx, err := t.used(t.ctx)
	if err != nil {
		panic(err)
	}
	return tx.Conn()
}
