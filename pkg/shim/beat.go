package shim

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

const (
	// leastBeatTimeout is the minimum timeout of a heartbeat. A heartbeat that takes longer than two intervals is
	// retried on another connection, so that a stuck connection does not make the worker count as dead.
	leastBeatTimeout = 5 * time.Second
	// askAfter is how long a handler has to run before heartbeats include its job.
	askAfter = time.Second
)

// heartbeater sends the worker's heartbeats and receives with each answer which jobs were lost or canceled, and whether
// a suspect is waiting. The same call stores the progress of jobs and lets the database recover the jobs of dead
// workers. Nothing else waits in its loop.
type heartbeater struct {
	loop
	register    func(context.Context) error
	isOutdated  func() bool // the database has other tasks than the worker
	changed     signal      // the tasks were replaced
	crew        *crew
	advice      adviceBox
	backlog     *backlog
	complain    func(context.Context, error)
	listenBroke *atomic.Bool // the listening connection broke after it had been healthy

	every  time.Duration // the interval from the last answer
	broken bool          // the last heartbeat got no answer
}

// run sends heartbeats until ctx ends.
func (h *heartbeater) run(ctx context.Context) {
	var retry connection.Backoff
	wait := h.every
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.changed:
		case <-timer.C:
		}
		timer.Stop()
		next, err := h.beat(ctx)
		if err == nil {
			retry.Reset()
			wait = connection.Jittered(next) // otherwise it might coincide with each poll and need one more connection
			continue
		}
		wait = min(retry.Next(), h.every)
		h.complain(ctx, err)
	}
}

// beat sends a heartbeat and returns when to send the next one.
func (h *heartbeater) beat(ctx context.Context) (next time.Duration, err error) {
	// Only jobs that were running before the call can be those that the answer reports as canceled: a later claim of
	// the same job is a different one.
	jobs, lasting := h.crew.lasting(0), h.crew.lasting(askAfter)
	asked := lasting[:0]
	for _, job := range lasting {
		job.hold.renewing.Lock()
		defer job.hold.renewing.Unlock()
		if job.hold.isRenewable() {
			asked = append(asked, job)
		}
	}
	reconnected := h.listenBroke.Swap(false) || h.broken
	h.broken = true // until the answer arrives
	timeout := max(2*h.every, leastBeatTimeout)
	if h.every == 0 { // the first one: a worker that is not registered does not count as dead
		timeout = callTimeout
	}
	began := time.Now()
	unsent := takeProgress(jobs)
	answer, err := h.queries.heartbeat(ctx, timeout, asked, tell(jobs, h.backlog), unsent, reconnected)
	if err != nil {
		keepProgress(unsent)
		return 0, fmt.Errorf("send heartbeat: %w", err)
	}
	h.broken = false
	h.queries.readOnly.over()
	h.queries.outage.Over(began)
	if answer.next > 0 { // otherwise there is more to recover
		h.every = answer.next
	}
	for _, job := range asked {
		if lease, held := answer.leases[job.ID]; held {
			job.hold.lease.Store(lease)
		} else if h.crew.interrupt(job, ErrLeaseLost) {
			emit(h.events, LeaseLost{Job: job.shown()})
			h.logger.Warn("lease lost, handler context canceled", "task_identifier", job.TaskIdentifier,
				"job_id", job.ID)
		}
	}
	for _, job := range jobs {
		if reason, canceled := answer.canceled[job.ID]; canceled && h.crew.interrupt(job, cancelCause(reason)) {
			emit(h.events, JobCanceled{Job: job.shown(), Reason: reason})
			h.logger.Warn("job canceled, handler context canceled", "task_identifier", job.TaskIdentifier, "job_id",
				job.ID, "reason", reason)
		}
	}
	if answer.freed > 0 || len(answer.died) > 0 {
		emit(h.events, WorkersRecovered{Workers: answer.died, Jobs: int(answer.freed)})
		h.logger.Warn("jobs of dead workers recovered", "jobs", answer.freed, "workers", answer.died)
	}
	h.advice.tell(advice{answer.aloneWaits, answer.drained})
	h.backlog.learn(func(r *ration.Ration) { r.StartAtOnce(answer.rated) })
	if !answer.registered {
		h.logger.Warn("worker was no longer registered, registering again")
	}
	if !answer.registered || h.isOutdated() {
		return answer.next, h.register(ctx)
	}
	return answer.next, nil
}
