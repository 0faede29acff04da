package shim

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/sqlstate"
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
	*keeper
	changed     signal // the tasks were replaced
	crew        *crew
	advice      adviceBox
	listenBroke *atomic.Bool // the listening connection broke after it had been healthy

	every  time.Duration // the interval from the last answer
	broken bool          // the last heartbeat got no answer
}

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
	answer, err := h.queries.heartbeat(ctx, timeout, asked, tell(jobs, h.crew.backlog), unsent, reconnected)
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
	h.crew.backlog.learn(func(r *ration.Ration) { r.StartAtOnce(answer.rated) })
	if !answer.registered {
		h.logger.Warn("worker was no longer registered, registering again")
	}
	if !answer.registered || h.isOutdated() {
		return answer.next, h.register(ctx)
	}
	return answer.next, nil
}

type pulse struct {
	registered bool
	leases     map[int64]int64  // of the jobs that are held, by job id: the new ones
	next       time.Duration    // until the next heartbeat, 0 if there is more to recover
	aloneWaits bool             // a suspect is waiting
	died       []string         // workers whose jobs are now all recovered
	freed      int64            // jobs that this call freed
	canceled   map[int64]string // jobs of this worker that were canceled, with the reasons, which may be empty
	drained    bool             // the worker must claim no more jobs
	rated      bool             // limits with a rate may apply to the worker's jobs
}

func (q *queries) heartbeat(
	ctx context.Context, timeout time.Duration, jobs []*Job, claimed told, unsent []*progress, reconnected bool,
) (p pulse, err error) {
	ids, held := make([]int64, len(jobs)), make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i], held[i] = job.ID, job.hold.lease.Load()
	}
	err = q.callWithin(ctx, timeout, func(ctx context.Context, conn *pgx.Conn) error {
		var next float64
		var canceled []int64
		var reasons []string
		beat := func() error {
			progress, args := q.progressOf(unsent, q.workerID, ids, held, reconnected, claimed.running, claimed.waiting,
				claimed.ids)
			return conn.QueryRow(ctx, q.text(`
				select b.registered, b.held_ids, b.held_leases, extract(epoch from b.next_in)::double precision, b.alone_waits,
				       b.died, b.freed, b.canceled_ids, b.reasons, b.drained, S._gw_has_rate($1::text)
				  from S.heartbeat($1::text, $2::bigint[], $3::bigint[], $4::boolean, $5::integer, $6::integer, $7::bigint[]) as b`+progress), args...).
				Scan(&p.registered, &ids, &held, &next, &p.aloneWaits, &p.died, &p.freed, &canceled, &reasons,
					&p.drained, &p.rated)
		}
		err := beat()
		if len(unsent) > 0 && (sqlstate.IsRefusal(err) || sqlstate.In(err, "42")) && !q.hasNoProgress.Swap(true) {
			q.worker.ownLogger().Warn("progress of jobs cannot be stored, the worker continues without it",
				"error", err)
			err = beat()
		}
		if err != nil {
			return err
		}
		p.next = seconds.Duration(next)
		p.leases = make(map[int64]int64, len(ids))
		for i, id := range ids {
			p.leases[id] = held[i]
		}
		p.canceled = make(map[int64]string, len(canceled))
		for i, id := range canceled {
			p.canceled[id] = reasons[i]
		}
		return nil
	})
	return p, err
}

// progressOf returns what stores the progress of jobs within the statement of a heartbeat, and all of its arguments.
// The jobs are found without their leases, which the heartbeat may change.
func (q *queries) progressOf(unsent []*progress, args ...any) (sql string, all []any) {
	if len(unsent) == 0 || q.hasNoProgress.Load() {
		return "", args
	}
	ids, leases := make([]int64, len(unsent)), make([]*int64, len(unsent))
	percents, notes := make([]*float64, len(unsent)), make([]*string, len(unsent))
	for i, p := range unsent {
		ids[i] = p.job.ID
		if !math.IsNaN(p.percent) {
			percents[i] = &p.percent
		}
		if p.note != "" {
			notes[i] = &p.note
		}
	}
	return `
		 cross join S._gw_set_progress($1::text, $8::bigint[], $9::bigint[], $10::double precision[], $11::text[]) as stored`,
		append(args, ids, leases, percents, notes)
}
