package task

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// again runs a job whose connection broke. It is alone, so that it loses this connection only if it is itself the cause. It is not known
// whether the job was completed: if so, the transaction fails before it calls the function.
func (c *caller) again(ctx context.Context, job *shim.Job) error {
	completion, err := shim.CompletionOf([]*shim.Job{job})
	if err != nil {
		return err
	}
	var p pipeline
	p.begin(c.timeout)
	p.add("savepoint gw")
	p.complete(completion)
	p.add("rollback to savepoint gw")
	checks := len(p)
	p = append(p, c.callOf(job))
	p.complete(completion)
	p.add("commit")
	err = job.WithConn(ctx, func(conn *pgx.Conn) error {
		done, err := p.send(ctx, conn)
		switch {
		case err == nil:
			completion.Committed()
		case done >= checks && isAnswer(conn, err):
			completion.RolledBack(nil)
		}
		return err // the pool closes a connection that is left within a transaction
	})
	switch {
	case err == nil:
		return nil
	case sqlstate.Of(err) == leaseLost:
		return shim.ErrLeaseLost // or the job was completed before: the worker asks the database
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return c.failed(err)
}
