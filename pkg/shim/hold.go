package shim

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// hold is the worker's state of a claimed job.
type hold struct {
	place
	lock
	view

	// unreadable is the reason why the job cannot run although it was received.
	unreadable error
	// context is the context of the job's handler. lost is set when it has ended because the worker lost the job,
	// canceled when it has ended because the job was canceled. The executor's lock protects them.
	context  handlerContext
	lost     bool
	canceled bool
	// tx is the transaction that the worker has given to the handler, in which it completes the job; nil without.
	tx     *handlerTx
	result string // the JSON that the handler has set, empty without
	// more is nil for most jobs.
	more atomic.Pointer[extras]
}

// place is where a job is between its claim and its end.
type place struct {
	claimed time.Time // when the last row of the claim arrived
	bytes   int64     // the size of the row as sent, without the small columns
	// before and after are the neighbours of this job in the fetcher's list.
	before, after *Job
	// streakID is what the job has in common with the other jobs of its streak, 0 if it has no queue. streak is nil if the job is the
	// only one.
	streakID int32
	streak   *streak
	// nextMayStart tells of a job whose outcome is written whether the next job of its queue may start.
	nextMayStart bool
	// task counts the jobs of the same task in the backlog.
	task *taskCount
}

// lock is the lock of a job in the database. A renewal gives the job a new lease, by which its outcome is then reported.
type lock struct {
	lease atomic.Int64
	// renewing is locked during a renewal: the database may have a lease that this process has not received yet.
	renewing sync.Mutex
	// completing is set when the handler completes the job in its own transaction. From then on the job is not renewed,
	// because a renewal would wait for the row lock, or find the row deleted.
	completing atomic.Bool
	// committed is set when that transaction is known to be committed.
	committed atomic.Bool
	// saving counts the calls in flight that act by the lease. Meanwhile the job is not renewed.
	saving atomic.Int32
}

// view is the job as its handler and the receivers of events know it, who may change it.
type view struct {
	shown   Job
	isShown bool
	own     *Job // the one that was copied
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
func (l *lock) useLease() (lease int64, release func()) {
	l.renewing.Lock() // an answer to a renewal may be in flight
	defer l.renewing.Unlock()
	l.saving.Add(1)
	return l.lease.Load(), func() { l.saving.Add(-1) }
}

// isRenewable reports whether a heartbeat may renew the job; the caller has locked renewing.
func (l *lock) isRenewable() bool { return !l.completing.Load() && l.saving.Load() == 0 }

func (h *hold) isCommitted() bool { return h != nil && h.committed.Load() }

// complete marks the job as completing and returns the lease by which it has to be completed.
func (l *lock) complete() (lease int64) {
	l.renewing.Lock() // an answer to a renewal may be in flight
	defer l.renewing.Unlock()
	l.completing.Store(true)
	return l.lease.Load()
}

// isOld reports whether the job has waited for its handler for far longer than jobs do in a process that was not
// paused.
func (j *Job) isOld() bool {
	return j.hold != nil && !j.hold.claimed.IsZero() && time.Since(j.hold.claimed) > ration.OldClaim
}

// isWorkersTx reports whether the worker completes the job in the transaction that it has given to the handler.
func (h *hold) isWorkersTx() bool { return h != nil && h.tx != nil }

func (h *hold) isCompleting() bool { return h != nil && h.completing.Load() }

// cancelCause returns the cause of the end of a canceled job's context, for a reason, which may be empty.
func cancelCause(reason string) error {
	if reason == "" {
		return ErrCanceled
	}
	return fmt.Errorf("%w: %s", ErrCanceled, reason)
}
