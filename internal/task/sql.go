package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

const (
	// defaultSQLTimeout is how long a function may take.
	defaultSQLTimeout = time.Minute
	// maxSQLTime limits the timeout, and the total time of the jobs that a connection takes at once. While the transaction of a
	// job runs, the job's lease is not renewed, and other workers free the job after four hours.
	maxSQLTime = 3 * time.Hour
	// MaxBatch is the maximum of SQL.Batch. Up to this number of savepoints in one transaction cost almost nothing.
	MaxBatch = 64
	// maxAlone is the maximum number of jobs that a connection takes at once if each has a transaction of its own.
	maxAlone = 32
)

// SQL serves a task with a function or a procedure in the database of the queue.
type SQL struct {
	// Function is the name of the function with its schema, quoted as in SQL where needed. Its first argument is the payload, as
	// json or jsonb; all other arguments must have defaults.
	Function string
	// Schema is the schema of the queue, not quoted. Default: graphile_worker.
	Schema string
	// Timeout is the statement_timeout. Default: 1 minute. Maximum: 3 hours.
	Timeout time.Duration
	// Batch is the maximum number of jobs in one transaction, up to 64. Default: 1. With a larger number each job has its own savepoint, and the locks of each job are held until the last job has run.
	Batch int
}

// Task returns a task that is served by the function, or all problems of s. It looks the function up in db,
// the database of the queue, as the role that will call it.
//
// The function is called in a statement of its own, and its job is completed in the same transaction, so that its changes are
// committed exactly once. The value of the function is the result of the job, kept in the same transaction where somebody
// asked for it; void, null, a procedure and a set of rows have none. If the function fails, or if the worker no longer holds
// the job, its changes are rolled back.
func (s SQL) Task(ctx context.Context, db *pgxpool.Pool, name string, options ...shim.TaskOption) (shim.Task, error) {
	s.Timeout = orDefault(s.Timeout, defaultSQLTimeout)
	s.Batch = cmp.Or(s.Batch, 1)
	var problems []error
	if s.Timeout < time.Millisecond || s.Timeout > maxSQLTime {
		problems = append(problems, fmt.Errorf("timeout is %s, must be from 1ms to %s", s.Timeout, maxSQLTime))
	}
	if s.Batch < 1 || s.Batch > MaxBatch {
		problems = append(problems, fmt.Errorf("batch is %d, must be from 1 to %d", s.Batch, MaxBatch))
	}
	f, err := findFunction(ctx, db, s.Function)
	if err := errors.Join(append(problems, err)...); err != nil {
		return shim.Task{}, err
	}
	c := &caller{
		function: f.keepingResult(cmp.Or(s.Schema, "graphile_worker")),
		timeout:  s.Timeout,
		bound:    fmt.Sprintf("set local statement_timeout = %d", s.Timeout.Milliseconds()),
	}
	t := shim.Task{Name: name, Many: c.alone, Most: maxAlone, Options: options}
	if s.Batch > 1 {
		t.Many, t.Most = c.together, s.Batch
	}
	t.Most = max(1, min(t.Most, int(maxSQLTime/s.Timeout)))
	return t, nil
}
