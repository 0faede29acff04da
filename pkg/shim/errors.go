package shim

import "errors"

// The errors of [Worker.Run], and the causes for which the context of a handler ends.
var (
	// ErrBreakingMigration is returned by Run and RunOnce if the schema went through a migration that workers of this
	// version do not support. Upgrade the worker.
	ErrBreakingMigration = errors.New("breaking migration")

	// ErrInterrupted is returned by Run and RunOnce if the worker could not wait for every handler: at least one job
	// was interrupted and returned to the queue, and its attempt does not count.
	ErrInterrupted = errors.New("jobs were interrupted")

	// ErrShutdown is the [context.Cause] of a handler's context that ended because the worker has to stop.
	ErrShutdown = errors.New("worker is shutting down")

	// ErrLeaseLost is the [context.Cause] of a handler's context that ended because the worker no longer holds the job:
	// its lock expired or was freed, or the job was deleted. The handler's result is not reported.
	ErrLeaseLost = errors.New("lease lost")

	// ErrCanceled is matched by the [context.Cause] of a handler's context that ended because the job was canceled, as
	// by [Client.Cancel]; its text has the reason. A handler that nevertheless returns nil completes the job; after any
	// error the job has failed permanently.
	ErrCanceled = errors.New("job canceled")
)
