package shim

import "context"

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

// causeOf returns why the context of a call, or that of one of its jobs, has ended, nil if none has.
func causeOf(ctx context.Context, job *Job, isAlone bool) error {
	own := &job.hold.context
	if isAlone && ctx != context.Context(own) {
		return context.Cause(ctx)
	}
	if cause := own.reason(); cause != nil || isAlone {
		return cause
	}
	return context.Cause(ctx)
}
