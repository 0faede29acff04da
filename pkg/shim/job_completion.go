package shim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/rows"
)

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
		leases = strconv.AppendInt(append(leases, ','), own[i].hold.complete(), 10)
	}
	worker := own[0].worker
	return &Completion{
		SQL:  worker.completeAll,
		Args: []any{worker.workerID, "{" + string(ids[1:]) + "}", "{" + string(leases[1:]) + "}", arrayOfResults(own)},
		jobs: slices.Clone(jobs), own: own,
	}
}

// arrayOfResults returns the results of jobs as an array of text, nil if none has one.
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
