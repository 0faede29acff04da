package shim

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A streak is what a claim has of a named queue: jobs that run one after the other. The first one waits for an executor as other jobs
// do. When it has ended, the next one takes its place in the backlog, unless the queue would have another next job by now; see
// [outcome.goesOn]. The database frees the queue when there are no more jobs of the streak, in whatever order their outcomes are
// written.
type streak struct {
	rest []*Job // behind the jobs that wait or run; protected by the backlog's lock
	// broken is set when the worker has lost a job of the streak, and so probably all of them.
	broken atomic.Bool
}

// inStreaks returns the jobs of a claim without those that have to wait for another one. It reports whether the claim may have left
// jobs of one of these queues because it asked for at most most jobs of each.
func inStreaks(jobs []*Job, most int) (heads []*Job, isCut bool) {
	var firsts map[int32]*Job
	for i, job := range jobs {
		id := job.hold.streakID
		switch first := firsts[id]; {
		case id == 0:
			if firsts != nil {
				heads = append(heads, job)
			}
		case first == nil:
			if firsts == nil {
				firsts, heads = make(map[int32]*Job), append(make([]*Job, 0, len(jobs)), jobs[:i]...)
			}
			firsts[id] = job
			heads = append(heads, job)
			isCut = isCut || most == 1
		default:
			if first.hold.streak == nil {
				first.hold.streak = &streak{}
			}
			job.hold.streak = first.hold.streak
			job.hold.streak.rest = append(job.hold.streak.rest, job)
			isCut = isCut || 1+len(job.hold.streak.rest) == most
		}
	}
	if firsts == nil {
		return jobs, false
	}
	return heads, isCut
}

// soonRetry is the delay of a failed job below which it may be the next one of its queue again before its streak has ended.
const soonRetry = time.Second

// goesOn reports whether the next job of the streak is also the next one of its queue. It is not if the job of this outcome may run
// again soon: it may come first. The default back-off is longer.
func (o *outcome) goesOn() bool {
	switch o.verdict {
	case completed, committed:
		return true
	case failed:
		return o.permanent || o.delay == nil || *o.delay >= soonRetry
	case returned, rateLimited:
		return o.delay != nil && *o.delay >= soonRetry
	default:
		return false
	}
}

// A job of a streak starts some time after its claim, so it may have been canceled since. askCanceled is the age of the claim, and
// of the last answer, from which the worker asks before it starts the job: the time that a claim may take anyway.
const askCanceled = 10 * time.Millisecond

// cancellations asks which jobs of the worker are canceled, for all executors at once.
type cancellations struct {
	queries *queries

	mu    sync.Mutex
	at    time.Time // of the last answer
	jobs  []int64
	fails bool // there was none
}

// allows reports whether a job of a streak may start. If the database does not answer, it may not: it would not be claimed either.
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
