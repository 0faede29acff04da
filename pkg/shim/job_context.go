package shim

import (
	"context"
	"errors"
)

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

func (c *handlerContext) look() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancelCause(c.Context)
		if c.ended {
			c.cancel(c.cause)
		}
	}
	return c.inner
}

func (c *handlerContext) Done() <-chan struct{} { return c.look().Done() }
func (c *handlerContext) Err() error            { return c.look().Err() }

func (c *handlerContext) Value(key any) any {
	if key == (jobKey{}) {
		return c.job
	}
	return c.look().Value(key)
}

// end ends the context unless it has ended; the cause is then cause, or context.Canceled if cause is nil.
func (c *handlerContext) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if cause == nil {
		cause = context.Canceled
	}
	c.ended, c.cause = true, cause
	if c.cancel != nil {
		c.cancel(cause)
	}
}

// reason returns why the context has ended, nil if it has not. It is [context.Cause] without creating the inner
// context.
func (c *handlerContext) reason() error {
	c.mu.Lock()
	inner, cause := c.inner, c.cause
	c.mu.Unlock()
	switch {
	case inner != nil:
		return context.Cause(inner)
	case cause != nil:
		return cause
	}
	return context.Cause(c.Context)
}

// causeOf returns why the context of a call has ended, nil if it has not. That of a single job is left to endOf.
func causeOf(ctx context.Context) error {
	if _, isOwn := ctx.(*handlerContext); isOwn {
		return nil
	}
	return context.Cause(ctx)
}

// endOf ends the context of a job whose handler has returned, and returns why it or that of the call had ended before.
func endOf(call error, job *Job) (cause error) {
	defer job.hold.context.end(nil)
	if cause = job.hold.context.reason(); cause == nil {
		cause = call
	}
	return cause
}
