package shim

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
)

// crew is the executors of a session and what they share. A worker has as many executors as its concurrency.
type crew struct {
	tasks    *atomic.Pointer[taskSet]
	backlog  *backlog
	outcomes chan<- outcome
	canceled *cancellations
	events   *eventBus
	losses   losses
	pool     *pgxpool.Pool   // that handlers may use
	handling context.Context // the parent context of the handlers; it ends with the grace time

	mu        sync.Mutex
	executors []*executor
}

// executor runs handlers one after the other. Each has its own jobs, so executors do not contend for one lock.
type executor struct {
	*crew
	stopped func() // called when the executor has ended

	mu      sync.Mutex
	jobs    []*Job // the jobs whose handler is running, nil without
	started time.Time
	cut     context.CancelCauseFunc // ends the call that runs for several jobs in one transaction, nil without
	isOver  bool                    // running handlers are no longer waited for
	isLeft  bool                    // a handler was left behind, and with it the goroutine it runs in

	single [1]*Job  // the memory of jobs if there is one job
	failed [1]error // and of its error
	watch  connection.PoolWatch
}

func (c *crew) newExecutor(stopped func()) *executor {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &executor{crew: c, stopped: stopped}
	c.executors = append(c.executors, e)
	return e
}

func (c *crew) lasting(d time.Duration) (jobs []*Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.executors {
		jobs = e.appendLasting(jobs, d)
	}
	return jobs
}

// interrupt ends the context of a job's running handler because the worker has lost the job or because it was canceled.
// It returns whether the handler was running.
func (c *crew) interrupt(job *Job, cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.executors, func(e *executor) bool { return e.interrupt(job, cause) })
}

// begin returns false if a handler would be interrupted at once, or if the process was paused since the claim, possibly
// so long that the worker counts as dead.
func (e *executor) begin(jobs []*Job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isOver || e.handling.Err() != nil || slices.ContainsFunc(jobs, (*Job).isOld) {
		return false
	}
	e.jobs, e.started = jobs, time.Now()
	for _, job := range jobs {
		job.hold.context.Context, job.hold.context.job = e.handling, job.shown()
	}
	return true
}

func (e *executor) appendLasting(jobs []*Job, d time.Duration) []*Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs == nil || time.Since(e.started) < d {
		return jobs
	}
	for _, job := range e.jobs {
		if !job.hold.lost {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// interrupt ends the context of a job whose handler runs here, and the call for several jobs that it is part of, which
// cannot be committed any more. It returns whether the handler runs here and was not interrupted before; but a canceled
// job may still be lost.
func (e *executor) interrupt(job *Job, cause error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	isLoss := errors.Is(cause, ErrLeaseLost)
	if !slices.Contains(e.jobs, job) || job.hold.lost || job.hold.canceled && !isLoss {
		return false
	}
	job.hold.lost, job.hold.canceled = isLoss, job.hold.canceled || !isLoss
	job.hold.context.end(cause)
	if e.cut != nil {
		e.cut(cause)
	}
	return true
}

// end records that the handler of jobs has returned. It returns false if it was left behind before.
func (e *executor) end(jobs []*Job) (isOurs bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isLeft = e.jobs == nil; len(jobs) == len(e.jobs) {
		e.jobs = nil
	} else {
		e.jobs = slices.DeleteFunc(slices.Clone(e.jobs), func(job *Job) bool { return slices.Contains(jobs, job) })
	}
	return !e.isLeft
}

func (e *executor) setCut(cut context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cut = cut
}

func (e *executor) isGone(job *Job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return job.hold.lost || job.hold.canceled
}

// contextOf returns the context of a call for jobs. It is that of the job if there is one only. The loss of one of
// several jobs ends the context only if they share a transaction, which cannot be committed then.
func (e *executor) contextOf(jobs []*Job, task taskEntry) (ctx context.Context, release func()) {
	ctx, release = &jobs[0].hold.context, func() {}
	switch {
	case len(jobs) > 1 && task.inTx:
		shared, cut := context.WithCancelCause(e.handling)
		e.setCut(cut)
		if slices.ContainsFunc(jobs, e.isGone) {
			cut(errGone)
		}
		ctx, release = shared, func() {
			e.setCut(nil)
			cut(nil)
		}
	case len(jobs) > 1:
		ctx = e.handling
	}
	if task.timeout == 0 {
		return ctx, release
	}
	end := release
	ctx, cancel := context.WithTimeoutCause(ctx, task.timeout, &TimeoutError{After: task.timeout})
	return ctx, func() {
		cancel()
		end()
	}
}

var errGone = errors.New("a job of the call was canceled or lost, so the transaction was rolled back")

func (e *executor) giveBack(job *Job) {
	o := outcome{job: job, verdict: verdictReturned}
	e.outcomes <- o
	e.backlog.ended(o)
}

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
