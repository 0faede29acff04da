package task

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/pkg/shim"
)

// answerTime is the time that the worker waits for the answers of the server beyond the timeouts of the statements.
const answerTime = time.Minute

// caller calls the function of a task.
type caller struct {
	function
	timeout time.Duration
	bound   string // the statement that sets the time-out
}

// alone calls the function for jobs that have a transaction each.
func (c *caller) alone(ctx context.Context, jobs []*shim.Job) []error {
	return c.run(ctx, newGroup(c, jobs), (*group).each)
}

// together calls the function for jobs that share a transaction.
func (c *caller) together(ctx context.Context, jobs []*shim.Job) []error {
	return c.run(ctx, newGroup(c, jobs), (*group).together)
}

// timeFor returns the maximum duration of a group with this number of jobs, each of which may take as long as timeout.
func timeFor(jobs int, timeout time.Duration) time.Duration {
	return seconds.Duration(float64(jobs)*timeout.Seconds() + answerTime.Seconds())
}

// run runs a group on a connection. If the connection breaks, the open jobs are tried again one by one, so that a job that breaks
// the connection does not affect the others. A job that was completed already is found to be gone then.
func (c *caller) run(ctx context.Context, g *group, how func(*group, context.Context, []int) error) []error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeFor(len(g.jobs), c.timeout), errTimeout)
	defer cancel()
	var broken error
	refused := g.jobs[0].WithConn(ctx, func(conn *pgx.Conn) error {
		g.conn = conn
		broken = how(g, ctx, g.open())
		return nil
	})
	err := errors.Join(refused, broken)
	if err == nil {
		return g.errs
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	for _, i := range g.open() {
		if g.errs[i] = c.failed(err); refused == nil && ctx.Err() == nil && len(g.jobs) > 1 {
			alone := newGroup(c, g.jobs[i:i+1])
			alone.again = true
			g.errs[i] = c.run(ctx, alone, (*group).each)[0]
		}
	}
	return g.errs
}

// group are the jobs that a connection takes at once, and their outcomes.
type group struct {
	*caller
	conn    *pgx.Conn
	jobs    []*shim.Job
	again   bool // tried again: it is not known whether the jobs were completed already
	settled []bool
	errs    []error
}

func newGroup(c *caller, jobs []*shim.Job) *group {
	return &group{caller: c, jobs: jobs, settled: make([]bool, len(jobs)), errs: make([]error, len(jobs))}
}

// open returns the indexes of the jobs without an outcome.
func (g *group) open() (open []int) {
	for i, settled := range g.settled {
		if !settled {
			open = append(open, i)
		}
	}
	return open
}

func (g *group) settle(i int, err error) {
	g.settled[i], g.errs[i] = true, err
}

// completion returns the completion of some of the jobs.
func (g *group) completion(of []int) (*shim.Completion, error) {
	jobs := make([]*shim.Job, len(of))
	for at, i := range of {
		jobs[at] = g.jobs[i]
	}
	return shim.CompletionOf(jobs)
}

// rollBack ends a transaction that has failed.
func (g *group) rollBack(ctx context.Context) error {
	if g.conn.PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := pipeline{{sql: "rollback"}}.send(ctx, g.conn)
	return err
}

// callOf returns the statement that calls the function for a job.
func (g *group) callOf(i int) statement {
	args := [][]byte{g.jobs[i].Payload}
	if g.keeps {
		args = append(args, strconv.AppendInt(nil, g.jobs[i].ID, 10))
	}
	return statement{g.call, args}
}
