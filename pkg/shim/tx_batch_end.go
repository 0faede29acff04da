package shim

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
)

// finish commits the batch and reports the outcomes of its jobs.
func (r *txBatch) finish() {
	r.mu.Lock()
	outcomes, broken := r.outcomes, r.isBroken
	if r.abandoned {
		outcomes = nil
	}
	r.mu.Unlock()
	if r.executor.isLeft {
		return
	}
	var done, claimed []int
	for i, o := range outcomes {
		switch o.verdict {
		case completed:
			done = append(done, i)
		case released:
		default:
			claimed = append(claimed, i)
		}
	}
	defer r.batches.claim(outcomes, claimed)()
	size, err := 0, error(nil)
	switch {
	case broken:
		err = errBatchLost
	case len(done)+len(claimed) == 0:
		r.rollBack(nil)
	default:
		size, err = r.commit(outcomes, done, claimed)
	}
	if err != nil {
		r.lose(outcomes, err)
		return
	}
	*r.end = batchEnd{
		locked: len(r.jobs), next: size, mean: r.mean, recorded: max(r.end.recorded, size), last: placeOf(r.jobs[len(r.jobs)-1]),
	}
	r.batches.stopped(r.next, r.end, r.stopped)
	r.batches.reportTx(r.executor.handling, outcomes)
}

// lose reports that the batch was not committed, or that this is not known.
func (r *txBatch) lose(outcomes []outcome, err error) {
	verdict := released
	if r.isInDoubt(err) {
		verdict = lost
	}
	for i := range outcomes {
		outcomes[i].verdict = verdict
	}
	r.fail(err)
	r.batches.reportTx(r.executor.handling, outcomes)
}

// fail ends the batch without a commit.
func (r *txBatch) fail(err error) {
	if isMistake(err) && !isOvertaken(err) && !inClass(err, "26") || sqlstate.Of(err) == "GWWBI" {
		r.batches.giveUp(r.next, r.end, err)
	} else {
		r.batches.complain(r.executor.handling, r.next, err)
	}
	if r.conn == nil {
		return
	}
	r.rollBack(err)
	if r.conn.IsClosed() {
		r.batches.queries.awaitEnd(context.WithoutCancel(r.executor.handling), r.conn.PgConn().PID())
	}
}

func (r *txBatch) rollBack(err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.executor.handling), callTimeout)
	defer cancel()
	rollBack(ctx, r.conn, err)
}

// isInDoubt reports whether the batch may have been committed although there was an error: the connection was lost after
// the commit was sent.
func (r *txBatch) isInDoubt(err error) bool { return r.isSent && sqlstate.Of(err) == "" }

// claim records that this worker holds jobs by the commit of a batch, until the function that it returns is called.
func (b *batches) claim(outcomes []outcome, claimed []int) (release func()) {
	if len(claimed) == 0 {
		return func() {}
	}
	ids := make([]int64, len(claimed))
	for at, i := range claimed {
		ids[at] = outcomes[i].job.ID
	}
	b.claiming.Lock()
	defer b.claiming.Unlock()
	for _, id := range ids {
		b.claimed[id] = struct{}{}
	}
	return func() {
		b.claiming.Lock()
		defer b.claiming.Unlock()
		for _, id := range ids {
			delete(b.claimed, id)
		}
	}
}

// whileClaimed calls fn with the jobs that the worker holds by commits of batches, which stay the same until fn has returned.
func (b *batches) whileClaimed(fn func(ids []int64) error) error {
	b.claiming.Lock()
	defer b.claiming.Unlock()
	return fn(slices.Collect(maps.Keys(b.claimed)))
}

// reportTx reports the outcomes of a batch that has ended, and writes those for which it has claimed the jobs.
func (b *batches) reportTx(handling context.Context, outcomes []outcome) {
	var left []outcome
	for _, o := range outcomes {
		switch o.verdict {
		case completed:
			b.reports.tell(o, OutcomeCompleted, fate{})
			b.reports.logWritten(o, OutcomeCompleted, fate{})
		case lost: // the batch was logged, once for all its jobs
			b.reports.tell(o, OutcomeLeaseLost, fate{})
		default:
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(handling))
	defer cancel()
	defer context.AfterFunc(handling, func() {
		select {
		case <-ctx.Done():
		case <-time.After(finishTimeout):
			cancel()
		}
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reports.flush(ctx, left)
}

// countOn adds the counts of outcomes to those of the worker's finisher.
func (b *batches) countOn(f *finisher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f.interrupted += b.reports.interrupted
	f.unwritten += b.reports.unwritten
	f.left += b.reports.left
}
