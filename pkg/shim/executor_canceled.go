package shim

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A job of a streak starts some time after its claim, so it may have been canceled since. askCanceled is the age of the
// claim, and of the last answer, from which the worker asks before it starts the job: the time that a claim may take
// anyway.
const askCanceled = 10 * time.Millisecond

// cancellations asks which jobs of the worker are canceled, for all executors at once.
type cancellations struct {
	queries *queries

	mu    sync.Mutex
	at    time.Time // of the last answer
	jobs  []int64
	fails bool // there was none
}

// allows reports whether a job of a streak may start. If the database does not answer, it may not: it would not be
// claimed either.
func (c *cancellations) allows(ctx context.Context, job *Job) bool {
	if job.hold.streak == nil || time.Since(job.hold.claimed) < askCanceled {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) >= askCanceled {
		jobs, err := c.queries.canceled(ctx)
		c.at, c.jobs, c.fails = time.Now(), jobs, err != nil
	}
	return !c.fails && !slices.Contains(c.jobs, job.ID)
}
