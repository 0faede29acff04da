package shim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Completion is the end of jobs as a statement, for a handler that sends a transaction in one go, its commit included, to
// save round trips: the statement fails, and the transaction with it, unless the worker holds every one of the jobs by
// then. Where the handler can look at an answer before it commits, [Job.CompleteTx] is simpler.
//
// From when it is made, the worker does not renew its locks on the jobs any more, which others free after four hours. Say
// what became of the transaction, by Committed or RolledBack; if you say nothing, because the connection broke, the worker
// asks the database.
type Completion struct {
	// SQL is the statement, with three parameters.
	SQL string
	// Args are its parameters, in the form of text.
	Args [3]string

	jobs []*Job
}

// CompletionOf makes the completion of jobs that one worker holds.
func CompletionOf(jobs []*Job) (*Completion, error) {
	if len(jobs) == 0 {
		return nil, errors.New("complete jobs: there are none")
	}
	var ids, leases []byte
	for _, job := range jobs {
		if job.worker == nil || job.worker != jobs[0].worker {
			return nil, fmt.Errorf("complete job %d: %w", job.ID, errNoWorker)
		}
		ids = strconv.AppendInt(append(ids, ','), job.ID, 10)
		leases = strconv.AppendInt(append(leases, ','), job.hold.complete(), 10)
	}
	worker := jobs[0].worker
	return &Completion{
		SQL:  worker.completeAll,
		Args: [3]string{worker.cfg.WorkerID, "{" + string(ids[1:]) + "}", "{" + string(leases[1:]) + "}"},
		jobs: jobs,
	}, nil
}

// Committed says that the transaction was committed: the jobs are done, whatever their handler returns.
func (c *Completion) Committed() {
	for _, job := range c.jobs {
		job.hold.committed.Store(true)
	}
}

// RolledBack says that the transaction was not committed and cannot be any more, so that what the handler returns for the
// jobs counts again. Of these it returns those that the worker does not hold any more, if that is what err says.
func (c *Completion) RolledBack(err error) (lost []*Job) {
	for _, job := range c.jobs {
		job.hold.completing.Store(false)
	}
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || refusal.Code != "GWWLL" {
		return nil
	}
	ids := strings.Split(refusal.Detail, ",")
	for _, job := range c.jobs {
		if slices.Contains(ids, strconv.FormatInt(job.ID, 10)) {
			lost = append(lost, job)
		}
	}
	return lost
}
