package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	// maxUnwritten limits the outcomes that wait to be written; above it nothing is claimed until the database has
	// caught up.
	maxUnwritten = 2000
	// maxBatch limits the outcomes written by one statement.
	maxBatch = 1000
	// floodBatch is the number of outcomes in a statement from which the finisher waits floodPause for more before the
	// next statement. Without the pause, each large statement would be followed by one for the few outcomes that
	// arrived first.
	floodBatch = 100
	floodPause = time.Millisecond
)

// verdict is the kind of an outcome.
type verdict int

const (
	completed verdict = iota
	failed
	returned
	rateLimited
	lost      // the worker lost the job: there is nothing to report
	cut       // returned, because the attempt has lost its connection; a transaction of it may have completed the job
	committed // the handler has completed the job, and this is known: nothing to report
)

// outcome is the result of a claim. It belongs to the claim's lease: if the job has another lease by now, the outcome
// changes nothing.
type outcome struct {
	job         *Job
	lease       int64 // the lease by which it was last written
	verdict     verdict
	started     bool            // its handler was called
	interrupted bool            // and interrupted
	snoozed     bool            // of a returned job: requested by its handler
	inTx        bool            // its handler completed it in a transaction, which may have been committed
	permanent   bool            // of a failed job: not to be tried again
	delay       *time.Duration  // until the job runs again, nil for the database's own delay; of a rate-limited job: always
	payload     json.RawMessage // of a failed job: the payload of the next attempt, nil for the same
	message     string          // the error text of the handler
	err         error           // as returned by the handler
	duration    time.Duration   // of the handler
}

// finisher writes outcomes. A flush takes all outcomes that arrived during the previous one, so a single outcome is
// written at once and a flood in large statements.
type finisher struct {
	loop
	quiet bool

	outcomes <-chan outcome
	settled  chan<- settlement

	interrupted int // returned jobs that had started
	unwritten   int // outcomes that could not be written
	left        int // jobs of which the database refuses every outcome
	refused     int // outcomes of leases that the worker no longer holds

	// Memory reused by the next flush.
	batch     []outcome
	byVerdict [committed + 1][]outcome
	parts     parts
}

// run writes outcomes until the channel is closed and empty. It tries again until the database accepts them or ctx
// ends.
func (f *finisher) run(ctx context.Context) {
	for first := range f.outcomes {
		batch := f.gather(first)
		note := settlement{jobs: make([]*Job, len(batch))}
		for i, o := range batch {
			note.jobs[i] = o.job
			note.queue = note.queue || o.job.QueueName != ""
		}
		f.flush(ctx, batch)
		f.settled <- note
	}
}

// flush writes outcomes and reports them. It tries again until the database accepts them or ctx ends.
func (f *finisher) flush(ctx context.Context, batch []outcome) {
	byVerdict := &f.byVerdict
	for _, o := range batch {
		byVerdict[o.verdict] = append(byVerdict[o.verdict], o)
		if o.interrupted {
			f.interrupted++
		}
	}
	for _, part := range f.parts.of(byVerdict[completed]) {
		f.write(ctx, "complete", part, f.queries.complete)
	}
	f.write(ctx, "fail", byVerdict[failed], f.queries.fail)
	f.write(ctx, "return", byVerdict[returned], f.queries.giveBack)
	for _, part := range byDelay(byVerdict[rateLimited]) {
		f.write(ctx, "return rate limited", part, f.queries.rateLimited)
	}
	// Behind a lost connection the server may still be busy with a transaction that holds these jobs. Then this call waits for its end.
	f.write(ctx, "return", byVerdict[cut], f.queries.giveBack)
	for _, o := range byVerdict[lost] {
		f.reportLost(o)
	}
	for _, o := range byVerdict[committed] {
		f.reportCommitted(o)
	}
	f.parts.letGo()
	for i := range byVerdict { // releases the jobs
		clear(byVerdict[i])
		byVerdict[i] = byVerdict[i][:0]
	}
}

// gather returns the outcomes of the next flush. They are valid until the following one.
func (f *finisher) gather(first outcome) []outcome {
	flood := len(f.batch) >= floodBatch
	clear(f.batch) // releases the jobs
	f.batch = append(f.batch[:0], first)
	if flood {
		time.Sleep(floodPause)
	}
	for len(f.batch) < maxBatch {
		select {
		case o, open := <-f.outcomes:
			if !open {
				return f.batch
			}
			f.batch = append(f.batch, o)
		default:
			return f.batch
		}
	}
	return f.batch
}

type writeFunc func(context.Context, []outcome) (applied, error)

// write writes outcomes of one kind and logs the results.
func (f *finisher) write(ctx context.Context, verb string, batch []outcome, call writeFunc) {
	if len(batch) == 0 {
		return
	}
	for i := range batch {
		batch[i].lease = batch[i].job.hold.lease.Load()
	}
	done, tries, err := f.persist(ctx, verb, batch, call)
	switch {
	case err == nil:
		batch, renewed := splitRenewed(batch, done)
		f.report(batch, done, tries)
		f.write(ctx, verb, renewed, call)
	case sqlstate.IsRefusedOutcome(err) && len(batch) > 1:
		// One outcome that the database refuses must not block the others.
		half := len(batch) / 2
		f.write(ctx, verb, batch[:half], call)
		f.write(ctx, verb, batch[half:], call)
	case sqlstate.IsRefusedOutcome(err):
		f.writeRefused(ctx, verb, batch[0], err, call)
	default:
		f.lose(len(batch), fmt.Errorf("%s %d jobs: %w", verb, len(batch), err))
	}
}

// lose gives up outcomes that could not be written because of err.
func (f *finisher) lose(n int, err error) {
	f.unwritten += n
	if sqlstate.IsMistake(err) {
		f.fail(err)
	}
	f.logger.Error("outcomes were not written, their jobs stay locked until they are freed", "error", err)
}

// splitRenewed separates the outcomes that were refused because their leases were renewed while they were written.
func splitRenewed(batch []outcome, done applied) (settled, renewed []outcome) {
	if done == nil || len(done) == len(batch) {
		return batch, nil
	}
	for _, o := range batch {
		if _, written := done.to(o.job.ID); !written {
			o.job.hold.renewing.Lock() // the answer to a renewal may be in flight
			isOld := o.job.hold.lease.Load() != o.lease
			o.job.hold.renewing.Unlock()
			if isOld {
				renewed = append(renewed, o)
				continue
			}
		}
		settled = append(settled, o)
	}
	return settled, renewed
}

// persist calls until the database answers, and returns the number of calls. An error that cannot pass is not retried,
// and a doubtful one only for a limited time.
func (f *finisher) persist(ctx context.Context, verb string, batch []outcome, call writeFunc) (applied, int, error) {
	var retry backoff
	for tries := 1; ; tries++ {
		done, err := call(ctx, batch)
		if err == nil || sqlstate.IsMistake(err) || sqlstate.IsRefusedOutcome(err) && (tries >= maxDoubtfulTries || !sqlstate.IsDoubtful(err)) {
			return done, tries, err
		}
		f.queries.warn(f.logger, "outcomes could not be written, worker will try again", err, []any{"verb", verb, "jobs", len(batch)}...)
		if !retry.wait(ctx) {
			return nil, tries, err
		}
	}
}
