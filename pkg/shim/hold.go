package shim

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// hold is the worker's state of a claimed job. A renewal gives the job a new lease, by which its outcome is then
// reported.
type hold struct {
	claimed time.Time // when the last row of the claim arrived
	bytes   int64     // the size of the row as sent, without the small columns
	// unreadable is the reason why the job cannot run although it was received.
	unreadable error
	// before and after are the neighbours of this job in the fetcher's list.
	before, after *Job
	// streakID is what the job has in common with the other jobs of its streak, 0 if it has no queue. streak is nil if the job is the
	// only one.
	streakID int32
	streak   *streak
	// task counts the jobs of the same task in the backlog.
	task  *taskCount
	lease atomic.Int64
	// context is the context of the job's handler. lost is set when it has ended because the worker lost the job,
	// canceled when it has ended because the job was canceled. The executor's lock protects them.
	context  handlerContext
	lost     bool
	canceled bool
	// renewing is locked during a renewal: the database may have a lease that this process has not received yet.
	renewing sync.Mutex
	// completing is set when the handler completes the job in its own transaction. From then on the job is not renewed,
	// because a renewal would wait for the row lock, or find the row deleted.
	completing atomic.Bool
	// committed is set when that transaction is known to be committed.
	committed atomic.Bool
	// tx is the transaction that the worker has given to the handler, in which it completes the job; nil without.
	tx *handlerTx
	// saving counts the calls in flight that act by the lease. Meanwhile the job is not renewed.
	saving atomic.Int32
	// shown is the job as its handler and the receivers of events know it, who may change it.
	shown   Job
	isShown bool
	own     *Job   // the one that was copied
	result  string // the JSON that the handler has set, empty without
	// more is nil for most jobs.
	more atomic.Pointer[extras]
}

// extras are what only some handlers need.
type extras struct {
	progress atomic.Pointer[progress] // not sent yet, nil without
	steps    atomic.Pointer[steps]
}

func (h *hold) extras() *extras {
	if h.more.Load() == nil {
		h.more.CompareAndSwap(nil, new(extras))
	}
	return h.more.Load()
}

func (e *extras) stepsOf() *steps {
	if e.steps.Load() == nil {
		e.steps.CompareAndSwap(nil, &steps{saved: make(map[string]string)})
	}
	return e.steps.Load()
}

// shown returns the copy of a job that a handler and the receivers of events get. The worker itself goes by the job, so that
// no change of theirs reaches an outcome. The first call must not be concurrent with another one.
func (j *Job) shown() *Job {
	if !j.hold.isShown {
		j.hold.shown, j.hold.isShown, j.hold.own = *j, true, j
	}
	return &j.hold.shown
}

// own returns the job of the worker of which the handler was given j.
func (j *Job) own() *Job {
	if j.hold == nil || j.hold.own == nil {
		return j
	}
	return j.hold.own
}

// shown returns the copies of jobs that a handler gets.
func shown(jobs []*Job) []*Job {
	copies := make([]*Job, len(jobs))
	for i, job := range jobs {
		copies[i] = job.shown()
	}
	return copies
}

// ownOf returns the jobs of the worker of which a handler was given copies.
func ownOf(copies []*Job) ([]*Job, error) {
	jobs := make([]*Job, len(copies))
	for i, job := range copies {
		if job == nil || job.hold == nil || job.hold.tx == nil {
			return nil, errNoTx
		}
		jobs[i] = job.own()
	}
	return jobs, nil
}

// useLease returns the lease, which stays the same until release is called.
func (h *hold) useLease() (lease int64, release func()) {
	h.renewing.Lock() // an answer to a renewal may be in flight
	defer h.renewing.Unlock()
	h.saving.Add(1)
	return h.lease.Load(), func() { h.saving.Add(-1) }
}

// isRenewable reports whether a heartbeat may renew the job; the caller has locked renewing.
func (h *hold) isRenewable() bool { return !h.isCompleting() && h.saving.Load() == 0 }

func (h *hold) isCommitted() bool { return h != nil && h.committed.Load() }

// complete marks the job as completing and returns the lease by which it has to be completed.
func (h *hold) complete() (lease int64) {
	h.renewing.Lock() // an answer to a renewal may be in flight
	defer h.renewing.Unlock()
	h.completing.Store(true)
	return h.lease.Load()
}

// isOld reports whether the job has waited for its handler for far longer than jobs do in a process that was not
// paused.
func (j *Job) isOld() bool {
	return j.hold != nil && !j.hold.claimed.IsZero() && time.Since(j.hold.claimed) > oldClaim
}

// isWorkersTx reports whether the worker completes the job in the transaction that it has given to the handler.
func (h *hold) isWorkersTx() bool { return h != nil && h.tx != nil }

func (h *hold) isCompleting() bool { return h != nil && h.completing.Load() }

// running lists the executors, so that heartbeats can collect the jobs whose handlers run. Each executor has its own
// jobs, so executors do not contend for one lock.
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

// interrupt ends the context of a job's running handler because the worker has lost the job or because it was canceled.
// It returns whether the handler was running.
func (r *running) interrupt(job *Job, cause error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.executors, func(e *executor) bool { return e.interrupt(job, cause) })
}

// cancelCause returns the cause of the end of a canceled job's context, for a reason, which may be empty.
func cancelCause(reason string) error {
	if reason == "" {
		return ErrCanceled
	}
	return fmt.Errorf("%w: %s", ErrCanceled, reason)
}
