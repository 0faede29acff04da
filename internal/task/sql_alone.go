package task

import (
	"context"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// each runs one transaction for each of the open jobs, all in one round trip. Jobs after one that fails are sent again. An error
// means that the connection is broken.
func (g *group) each(ctx context.Context, open []int) error {
	for len(open) > 0 {
		done, err := g.eachUntilFailure(ctx, open)
		if err != nil {
			return err
		}
		open = open[done:]
	}
	return nil
}

// eachUntilFailure runs the jobs up to the first that fails, and returns the number of jobs that have an outcome.
func (g *group) eachUntilFailure(ctx context.Context, open []int) (done int, err error) {
	const statements = 5
	p := make(pipeline, 0, len(open)*statements)
	completions := make([]*shim.Completion, len(open))
	for at, i := range open {
		if completions[at], err = g.completion(open[at : at+1]); err != nil {
			return 0, err
		}
		p.add("begin")
		p.add(g.bound)
		p = append(p, g.callOf(i))
		p.complete(completions[at])
		p.add("commit")
	}
	ran, err := p.send(ctx, g.conn)
	done = ran / statements
	for at, i := range open[:done] {
		completions[at].Committed()
		g.settle(i, nil)
	}
	if err == nil || done == len(open) || !isAnswer(g.conn, err) {
		return done, err
	}
	for _, c := range completions[done+1:] {
		c.RolledBack(nil)
	}
	g.settle(open[done], g.failure(completions[done], err))
	return done + 1, g.rollBack(ctx)
}

// failure returns the error of a job whose transaction was rolled back.
func (g *group) failure(c *shim.Completion, err error) error {
	if g.again && sqlstate.Of(err) == leaseLost {
		return shim.ErrLeaseLost // or the job was completed before: the worker asks the database
	}
	if len(c.RolledBack(err)) > 0 {
		return shim.ErrLeaseLost
	}
	return g.failed(err)
}
