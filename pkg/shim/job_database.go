package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/guard"
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
	lease, before := j.hold.complete()
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

// errNoWorker is returned by the database methods of a job that no worker claimed.
var errNoWorker = errors.New("no worker has claimed this job")

var (
	errWorkersTx = errors.New("the worker ends this transaction: return nil to commit it, an error to roll it back")
	errCompletes = errors.New("the worker completes this job with the transaction that it gave to the handler")
	errTxAborted = errors.New("the transaction is aborted by an error of a statement, which the handler did not return")
	errTxEnded   = errors.New("the handler has ended the transaction, which is the worker's, by a statement")
	errTxBusy    = errors.New("the handler has left rows of the transaction open")
	errTxLost    = errors.New("the connection of the transaction is closed")
	errLost      = errors.New("the worker no longer holds the job")
)

// Completion completes jobs by a statement. It is for a handler that sends its transaction together with the commit, to
// save round trips: the statement, and with it the transaction, fails unless the worker still holds every one of the
// jobs. If the handler can read an answer before it commits, [Job.CompleteTx] is simpler. Results that [Job.SetResult]
// has set before CompletionOf are kept by the statement.
//
// Once a Completion exists, the worker no longer renews its locks on the jobs, which other workers free after four
// hours. Report the result of the transaction by Committed or RolledBack. If neither is called, because the connection
// broke, the worker asks the database; return the error of the connection, so that the attempt does not count: see
// [Handler].
type Completion struct {
	// SQL is the statement.
	SQL string
	// Args are its four parameters, each as a string, or nil for null.
	Args []any

	jobs []*Job // as given
	own  []*Job // those of the worker
}

// CompletionOf returns a completion of jobs that one worker holds.
func CompletionOf(jobs []*Job) (*Completion, error) {
	if len(jobs) == 0 {
		return nil, errors.New("complete jobs: no jobs given")
	}
	for _, job := range jobs {
		if job.worker == nil || job.worker != jobs[0].worker {
			return nil, fmt.Errorf("complete job %d: %w", job.ID, errNoWorker)
		}
		if job.hold.isWorkersTx() {
			return nil, fmt.Errorf("complete job %d: %w", job.ID, errCompletes)
		}
	}
	return newCompletion(jobs), nil
}

func newCompletion(jobs []*Job) *Completion {
	var ids, leases []byte
	own := make([]*Job, len(jobs))
	for i, job := range jobs {
		own[i] = job.own()
		ids = strconv.AppendInt(append(ids, ','), own[i].ID, 10)
		lease, _ := own[i].hold.complete()
		leases = strconv.AppendInt(append(leases, ','), lease, 10)
	}
	worker := own[0].worker
	return &Completion{
		SQL:  worker.completeAll,
		Args: []any{worker.workerID, "{" + string(ids[1:]) + "}", "{" + string(leases[1:]) + "}", arrayOfResults(own)},
		jobs: slices.Clone(jobs), own: own,
	}
}

func arrayOfResults(jobs []*Job) any {
	if !slices.ContainsFunc(jobs, func(job *Job) bool { return job.hold.result != "" }) {
		return nil
	}
	elements := slices.Repeat([]string{"null"}, len(jobs))
	for i, job := range jobs {
		if job.hold.result != "" {
			elements[i] = rows.Element(job.hold.result)
		}
	}
	return "{" + strings.Join(elements, ",") + "}"
}

// Committed reports that the transaction was committed: the jobs are completed, whatever their handler returns.
func (c *Completion) Committed() {
	for _, job := range c.own {
		job.hold.committed.Store(true)
	}
}

// RolledBack reports that the transaction was not committed and can no longer be, so that the handler's result for the
// jobs counts. It returns the jobs that the worker no longer holds, if err is that error.
func (c *Completion) RolledBack(err error) (lost []*Job) {
	for _, job := range c.own {
		job.hold.completing.Store(false)
	}
	refusal, ok := guard.As[*pgconn.PgError](err)
	if !ok || refusal.Code != "GWWLL" {
		return nil
	}
	ids := strings.Split(refusal.Detail, ",")
	for i, job := range c.own {
		if slices.Contains(ids, strconv.FormatInt(job.ID, 10)) {
			lost = append(lost, c.jobs[i])
		}
	}
	return lost
}
