package task

import (
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
	// maxSQLTime bounds it, and the jobs that one connection takes at once with it: the lock on a job that its own
	// transaction completes is not renewed, and is freed by others after four hours.
	maxSQLTime = 3 * time.Hour
	// MaxBatch bounds SQL.Batch. Up to so many savepoints in one transaction cost next to nothing.
	MaxBatch = 64
	// maxAlone is how many jobs a connection takes at once that have a transaction each.
	maxAlone = 32
)

// SQL serves a task with a function or a procedure in the database of the queue.
type SQL struct {
	// Function is its name with its schema, quoted as in SQL where needed. It takes the payload, as json or jsonb, and
	// nothing else that has no default.
	Function string
	// Timeout is its statement_timeout. Default 1 minute, at most 3 hours.
	Timeout time.Duration
	// Batch is how many jobs may share a transaction, up to 64, each with its own savepoint. Default 1. Set it for
	// short functions where throughput matters: locks of one job are held until the last one has run.
	Batch int
}

// Task returns a task that is served by the function, or all problems of s. It looks the function up in db,
// the database of the queue, as the role that will call it.
//
// The function is called as a statement of its own, and its job completed in the same transaction, so that what it does is
// done exactly once. If it fails, or if the worker no longer holds the job by then, nothing is done.
func (s SQL) Task(ctx context.Context, db *pgxpool.Pool, name string, options ...shim.TaskOption) (shim.Task, error) {
	s.Timeout = orDefault(s.Timeout, defaultSQLTimeout)
	if s.Batch == 0 {
		s.Batch = 1
	}
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
		function: f,
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
