package shim

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// hold is the worker's grip on a claimed job. Renewing gives the job a new lease; whatever is reported later goes by that
// one.
type hold struct {
	claimed time.Time
	lease   atomic.Int64
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

// running are the jobs whose handlers run, for beats to ask after.
type running struct {
	mu   sync.Mutex
	jobs map[*Job]runningJob
}

type runningJob struct {
	since    time.Time
	context  *handlerContext
	lost     bool // and ended because of that
	canceled bool // likewise
}

func newRunning() *running { return &running{jobs: make(map[*Job]runningJob)} }

// enter notes that the handler of a job runs since a time, under a context.
func (r *running) enter(job *Job, ctx *handlerContext, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[job] = runningJob{since: since, context: ctx}
}

func (r *running) leave(job *Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, job)
}

// all returns the jobs that are not lost, and apart from them those that have run for at least d.
func (r *running) all(d time.Duration) (all, lasting []*Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, j := range r.jobs {
		if j.lost {
			continue
		}
		all = append(all, job)
		if time.Since(j.since) >= d {
			lasting = append(lasting, job)
		}
	}
	return all, lasting
}

// lose ends the context of a job's handler, if it still runs, because the job belongs to somebody else by now. It
// returns whether it did.
func (r *running) lose(job *Job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j, runs := r.jobs[job]
	if !runs || j.lost {
		return false
	}
	j.lost = true
	r.jobs[job] = j
	j.context.end(ErrLeaseLost)
	return true
}

// cancel ends the context of a job's handler, if it still runs, because somebody has canceled the job. It returns
// whether it did.
func (r *running) cancel(job *Job, reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j, runs := r.jobs[job]
	if !runs || j.lost || j.canceled {
		return false
	}
	j.canceled = true
	r.jobs[job] = j
	cause := ErrCanceled
	if reason != "" {
		cause = fmt.Errorf("%w: %s", ErrCanceled, reason)
	}
	j.context.end(cause)
	return true
}
