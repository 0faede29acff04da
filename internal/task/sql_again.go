package task

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// again runs a job whose connection broke, so that it is not known whether it was completed. The statements are sent one after the
// other: if the connection breaks while the function runs, this is a failure of the job. If anything goes wrong before or after
// that, the completion stays open, and the worker asks the database.
func (c *caller) again(ctx context.Context, job *shim.Job) error {
	completion, err := shim.CompletionOf([]*shim.Job{job})
	if err != nil {
		return err
	}
	err = job.WithConn(ctx, func(conn *pgx.Conn) error { return c.runAgain(ctx, conn, job, completion) })
	switch {
	case sqlstate.Of(err) == leaseLost:
		return shim.ErrLeaseLost // or the job was completed before
	case ctx.Err() != nil:
		return c.failed(context.Cause(ctx))
	case err != nil:
		return c.failed(err)
	}
	return nil
}

// runAgain runs the transaction of a job. If it fails, the connection is left within it, so that the pool closes the connection.
func (c *caller) runAgain(ctx context.Context, conn *pgx.Conn, job *shim.Job, completion *shim.Completion) error {
	var begin, end pipeline
	begin.begin(c.timeout)
	begin.add("savepoint gw")
	begin.complete(completion) // fails if the job was completed before
	begin.add("rollback to savepoint gw")
	if _, err := begin.send(ctx, conn); err != nil {
		return err
	}
	if _, err := (pipeline{c.callOf(job)}).send(ctx, conn); err != nil {
		completion.RolledBack(nil)
		return err
	}
	end.complete(completion)
	end.add("commit")
	_, err := end.send(ctx, conn)
	switch {
	case err == nil:
		completion.Committed()
	case isAnswer(conn, err):
		completion.RolledBack(nil)
	}
	return err
}
