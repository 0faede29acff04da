package shim

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// hold is the worker's grip on a claimed job. Renewing gives the job a new lease; whatever is reported later goes by that
// one.
type hold struct {
	claimed time.Time // when the last row of the claim had arrived
	bytes   int64     // how large the row was when it was sent, but for what is small in every row
	// unreadable is why the job cannot run although it has arrived.
	unreadable error
	// before and after are the jobs beside this one in what the fetcher holds.
	before, after *Job
	// task counts the jobs of the same task in the backlog.
	task  *taskCount
	lease atomic.Int64
	// context is what the job's handler runs under; lost, that it has ended because the job is somebody else's, canceled,
	// because somebody has canceled it. They are the executor's, under its lock.
	context  handlerContext
	lost     bool
	canceled bool
	// renewing is locked while a renewal is under way: the database may know a lease that this process does not yet.
	renewing sync.Mutex
	// completing is set when the handler completes the job in a transaction of its own: from then on it is not renewed,
	// for that would lock the row, or find it gone.
	completing atomic.Bool
	// committed is set when that transaction is known to be committed.
	committed atomic.Bool
}

func (h *hold) isCommitted() bool { return h != nil && h.committed.Load() }

// complete marks the job as completing and returns the lease by which it has to be completed.
func (h *hold) complete() (lease int64) {
	h.renewing.Lock() // an answer to a renewal may be on its way
	defer h.renewing.Unlock()
	h.completing.Store(true)
	return h.lease.Load()
}

// isOld reports whether the job has waited for its handler for far longer than jobs do in a process that was not paused.
func (j *Job) isOld() bool {
	return j.hold != nil && !j.hold.claimed.IsZero() && time.Since(j.hold.claimed) > oldClaim
}

func (h *hold) isCompleting() bool { return h != nil && h.completing.Load() }

// running are the executors, for beats to ask after the jobs whose handlers run. Each knows its own, so that those do not
// wait for each other.
type running struct {
	mu        sync.Mutex
	executors []*executor
}

func (r *running) add(e *executor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.executors = append(r.executors, e)
}

// lasting returns the jobs that have run for at least d.
func (r *running) lasting(d time.Duration) (jobs []*Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.executors {
		jobs = e.appendLasting(jobs, d)
	}
	return jobs
}

// lose ends the context of a job's handler, if it still runs, because the job belongs to somebody else by now. It
// returns whether it did.
func (r *running) lose(job *Job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.executors, func(e *executor) bool { return e.lose(job) })
}

// cancel ends the context of a job's handler, if it still runs, because somebody has canceled the job. It returns
// whether it did.
func (r *running) cancel(job *Job, reason string) bool {
	cause := ErrCanceled
	if reason != "" {
		cause = fmt.Errorf("%w: %s", ErrCanceled, reason)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.executors, func(e *executor) bool { return e.cancel(job, cause) })
}
