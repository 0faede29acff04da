package shim

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// leastBeatTimeout is how long a beat may take at least. One that takes longer than two intervals is tried again on
	// another connection: its worker must not be taken for dead because one is stuck.
	leastBeatTimeout = 5 * time.Second
	// askAfter is how long a handler has to run before beats ask after its job.
	askAfter = time.Second
)

// heart tells the fleet that the worker lives, and learns from each answer which jobs were lost or canceled, and whether
// one waits that has to run alone. The core lets whoever beats recover the jobs of those who do not. Nothing else waits in its loop.
type heart struct {
	queries     *queries
	register    func(context.Context) error
	isOutdated  func() bool // the database knows other tasks than the worker has
	changed     signal      // the tasks are others
	running     *running
	alone       aloneNotice
	logger      *slog.Logger
	events      *eventBus
	complain    func(context.Context, error)
	listenBroke *atomic.Bool // the listening connection did, after it had lasted

	every  time.Duration // between two beats, as the last answer said
	broken bool          // the last beat got no answer
}

// run beats until ctx ends.
func (h *heart) run(ctx context.Context) {
	var retry backoff
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
			retry.reset()
			wait = jittered(next) // else it might meet a poll each time, and need a connection more
			continue
		}
		wait = min(retry.next(), h.every)
		h.complain(ctx, err)
	}
}

// beat says that the worker lives, and returns when to do so again.
func (h *heart) beat(ctx context.Context) (next time.Duration, err error) {
	// Of the jobs that run before the question only these can be what the answer calls canceled: a claim of the same job
	// that comes later is another one.
	jobs, lasting := h.running.lasting(0), h.running.lasting(askAfter)
	asked := lasting[:0]
	for _, job := range lasting {
		job.hold.renewing.Lock()
		defer job.hold.renewing.Unlock()
		if !job.hold.isCompleting() {
			asked = append(asked, job)
		}
	}
	reconnected := h.listenBroke.Swap(false) || h.broken
	h.broken = true // until the answer is here
	timeout := max(2*h.every, leastBeatTimeout)
	if h.every == 0 { // the first: nobody takes a worker for dead that is not known
		timeout = callTimeout
	}
	began := time.Now()
	answer, err := h.queries.heartbeat(ctx, timeout, asked, reconnected)
	if err != nil {
		return 0, fmt.Errorf("send heartbeat: %w", err)
	}
	h.broken = false
	h.queries.readOnly.over()
	h.queries.outage.over(began)
	if answer.next > 0 { // else there is more to recover
		h.every = answer.next
	}
	for _, job := range asked {
		if lease, held := answer.leases[job.ID]; held {
			job.hold.lease.Store(lease)
		} else if h.running.lose(job) {
			emit(h.events, LeaseLost{Job: job})
			h.logger.Warn("lease lost, ends the handler", "task_identifier", job.TaskIdentifier, "job_id", job.ID)
		}
	}
	for _, job := range jobs {
		if reason, canceled := answer.canceled[job.ID]; canceled && h.running.cancel(job, reason) {
			emit(h.events, JobCanceled{Job: job, Reason: reason})
			h.logger.Warn("job canceled, ends the handler", "task_identifier", job.TaskIdentifier, "job_id", job.ID, "reason", reason)
		}
	}
	if answer.freed > 0 || len(answer.died) > 0 {
		emit(h.events, WorkersRecovered{Workers: answer.died, Jobs: int(answer.freed)})
		h.logger.Warn("recovered jobs of dead workers", "jobs", answer.freed, "workers", answer.died)
	}
	h.alone.tell(answer.aloneWaits)
	if !answer.registered {
		h.logger.Warn("worker was not registered any more, registers again")
	}
	if !answer.registered || h.isOutdated() {
		return answer.next, h.register(ctx)
	}
	return answer.next, nil
}
