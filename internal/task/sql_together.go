package task

import (
	"context"
	"slices"

	"github.com/gwsql/gw/pkg/shim"
)

// together runs one transaction for some jobs, with a savepoint for each. A job that fails is rolled back to its savepoint, and
// the others continue. An error means that the connection is broken.
func (g *group) together(ctx context.Context, open []int) error {
	for len(open) > 0 {
		t := &transaction{group: g, left: open}
		err := t.run(ctx)
		if err == nil {
			err = g.rollBack(ctx)
		}
		switch {
		case err != nil:
			return err
		case t.endFailed: // because of one of the jobs: run alone, it is known which
			return g.each(ctx, g.open())
		}
		open = g.open()
	}
	return nil
}

// transaction are jobs that share a transaction.
type transaction struct {
	*group
	called    []int // jobs whose call succeeded
	left      []int // jobs to call
	endFailed bool  // the end of the transaction failed, because of one of the jobs
}

// run runs the transaction. If it fails as a whole, the jobs without an outcome must be tried again.
func (t *transaction) run(ctx context.Context) error {
	p := make(pipeline, 0, 2*len(t.left)+4)
	p.add("begin")
	p.add(t.bound)
	for len(t.called)+len(t.left) > 0 {
		ahead := len(p)
		for _, i := range t.left {
			p.add("savepoint gw")
			p = append(p, t.callOf(i))
		}
		c, err := t.completion(slices.Concat(t.called, t.left))
		if err != nil {
			return err
		}
		p.complete(c)
		p.add("commit")
		ran, err := p.send(ctx, t.conn)
		switch {
		case err == nil:
			c.Committed()
			for _, i := range slices.Concat(t.called, t.left) {
				t.settle(i, nil)
			}
			return nil
		case !isAnswer(t.conn, err):
			return err
		}
		at := (ran - ahead) / 2
		if ran < ahead || at >= len(t.left) {
			t.undo(c, err)
			return nil
		}
		c.RolledBack(nil)
		t.settle(t.left[at], t.failed(err))
		t.called, t.left = append(t.called, t.left[:at]...), t.left[at+1:]
		p = nil
		p.add("rollback to savepoint gw")
	}
	return nil
}

// undo records that the transaction was rolled back.
func (t *transaction) undo(c *shim.Completion, err error) {
	lost := c.RolledBack(err)
	for _, job := range lost {
		t.settle(slices.Index(t.jobs, job), shim.ErrLeaseLost)
	}
	t.endFailed = len(lost) == 0
}
