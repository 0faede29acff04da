package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

const (
	// defaultSQLTimeout is how long a call may take.
	defaultSQLTimeout = time.Minute
	// maxSQLTime limits the timeout: vacuum keeps the dead rows of all tables as long as the transaction of a call is
	// open.
	maxSQLTime = 3 * time.Hour
	// maxBatch is the maximum of SQL.Batch: as many jobs as a claim has.
	maxBatch = 1000
)

// SQL serves a task with a function or a procedure in the database of the queue.
type SQL struct {
	// Function is the name of the function with its schema, quoted as in SQL where needed. Without Batch, its first
	// argument is the payload, as json or jsonb, and all other arguments must have defaults. With Batch, its only
	// argument is json[] or jsonb[]: if the argument is named jobs, the descriptions of jobs that persistent programs
	// get, otherwise payloads.
	Function string
	// Owner is the role that owns the function, not quoted. Default: only a function of the role that calls it, of the
	// owner of the database or of a superuser is called.
	Owner string
	// Schema is the schema of the queue, not quoted. Default: graphile_worker.
	Schema string
	// Timeout is the statement_timeout of a call. Default: 1 minute. Maximum: 3 hours.
	Timeout time.Duration
	// Batch is the maximum number of jobs for one call of a function of an array, up to 1000. Default: the function is
	// called for each job.
	Batch int
	// Logger is told of calls for several jobs that fail. Default: [slog.Default].
	Logger *slog.Logger
}

// Task returns a task that is served by the function, or all problems of s. It looks the function up in db,
// the database of the queue, as the role that will call it.
//
// The function is called in a statement of its own, and its job is completed in the same transaction, so that its
// changes are committed exactly once. The value of the function is the result of the job, kept in the same transaction
// where somebody asked for it; void, null, a procedure and a set of rows have none. If the function fails, or if the
// worker no longer holds the job, its changes are rolled back.
//
// With Batch, one call and one transaction serve all its jobs; see [shim.Worker.HandleManyTx]. The function returns
// void, or a set of rows or an array with the results of the jobs, in their order.
func (s SQL) Task(ctx context.Context, db *pgxpool.Pool, name string, options ...shim.TaskOption) (shim.Task, error) {
	s.Timeout = cmp.Or(s.Timeout, defaultSQLTimeout)
	var problems []error
	if s.Timeout < time.Millisecond || s.Timeout > maxSQLTime {
		problems = append(problems, fmt.Errorf("timeout is %s, must be from 1ms to %s", s.Timeout, maxSQLTime))
	}
	if s.Batch < 0 || s.Batch > maxBatch {
		problems = append(problems, fmt.Errorf("batch is %d, must be from 1 to %d", s.Batch, maxBatch))
	}
	f, err := findFunction(ctx, db, s.Function, s.Batch != 0, s.Owner)
	if err := errors.Join(append(problems, err)...); err != nil {
		return shim.Task{}, err
	}
	schema := cmp.Or(s.Schema, "graphile_worker")
	t := shim.Task{Name: name, Options: options}
	c := &caller{function: f, timeout: s.Timeout, log: cmp.Or(s.Logger, slog.Default())}
	if s.Batch != 0 {
		c.call, c.keeps = f.callForMany(schema)
		t.ManyTx, t.Most = c.many, s.Batch
	} else {
		c.call, c.keeps = f.callForOne(schema)
		t.Tx = c.one
	}
	return t, nil
}
