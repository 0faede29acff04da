package task

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/pkg/shim"
)

const (
	// answerTime is the time that the worker waits for the answers of the server beyond the timeouts of the statements.
	answerTime = time.Minute
	// leaseLost is the SQLSTATE of a completion of jobs that the worker no longer holds.
	leaseLost = "GWWLL"
)

// caller calls a function for each job, in a transaction that also completes the job.
type caller struct {
	function
	call    string
	keeps   bool // the call has the id of the job as its second parameter
	timeout time.Duration
}

// timeFor returns the maximum duration of calls for this number of jobs, each of which may take as long as timeout.
func timeFor(jobs int, timeout time.Duration) time.Duration {
	return seconds.Duration(float64(jobs)*timeout.Seconds() + answerTime.Seconds())
}

// run runs the jobs on one connection. If that breaks, the jobs without an outcome run again, each alone.
func (c *caller) run(ctx context.Context, jobs []*shim.Job) []error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeFor(len(jobs), c.timeout), errTimeout)
	defer cancel()
	g := &group{caller: c, jobs: jobs, errs: make([]error, len(jobs))}
	refused := jobs[0].WithConn(ctx, func(conn *pgx.Conn) error {
		_ = g.run(ctx, conn) // the connection is broken
		return nil
	})
	for i := g.settled; i < len(jobs); i++ {
		switch {
		case ctx.Err() != nil:
			g.errs[i] = c.failed(context.Cause(ctx))
		case refused != nil:
			g.errs[i] = c.failed(refused)
		default:
			g.errs[i] = c.again(ctx, jobs[i])
		}
	}
	return g.errs
}

// group are jobs that a connection takes at once, each with a transaction of its own.
type group struct {
	*caller
	jobs    []*shim.Job
	errs    []error
	settled int // the number of jobs that have an outcome; these are the first ones
}

// run sends the transactions of all jobs in one round trip, and those after one that fails again. An error means that the
// connection is broken.
func (g *group) run(ctx context.Context, conn *pgx.Conn) error {
	for g.settled < len(g.jobs) {
		if err := g.runUntilFailure(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// runUntilFailure runs the jobs without an outcome up to the first that fails.
func (g *group) runUntilFailure(ctx context.Context, conn *pgx.Conn) error {
	const statements = 5
	open, errs := g.jobs[g.settled:], g.errs[g.settled:]
	p := make(pipeline, 0, len(open)*statements)
	completions := make([]*shim.Completion, len(open))
	for i, job := range open {
		var err error
		if completions[i], err = shim.CompletionOf(open[i : i+1]); err != nil {
			return err
		}
		p.begin(g.timeout)
		p = append(p, g.callOf(job))
		p.complete(completions[i])
		p.add("commit")
	}
	ran, err := p.send(ctx, conn)
	done := ran / statements
	for _, c := range completions[:done] {
		c.Committed()
	}
	g.settled += done
	if err == nil || done == len(open) || !isAnswer(conn, err) {
		return err
	}
	for _, c := range completions[done+1:] {
		c.RolledBack(nil)
	}
	errs[done] = g.failure(completions[done], err)
	g.settled++
	return rollBack(ctx, conn)
}

// failure returns the error of a job whose transaction the server has refused.
func (c *caller) failure(completion *shim.Completion, err error) error {
	if len(completion.RolledBack(err)) > 0 {
		return shim.ErrLeaseLost
	}
	return c.failed(err)
}

// callOf returns the statement that calls the function for a job.
func (c *caller) callOf(job *shim.Job) statement {
	args := [][]byte{job.Payload}
	if c.keeps {
		args = append(args, strconv.AppendInt(nil, job.ID, 10))
	}
	return statement{c.call, args}
}
