package shim

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
)

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
	byVerdict [verdictCommitted + 1][]outcome
}

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
		o.message = cleanMessage(o.message)
		byVerdict[o.verdict] = append(byVerdict[o.verdict], o)
		if o.interrupted {
			f.interrupted++
		}
	}
	for _, part := range byClaim(byVerdict[verdictCompleted]) {
		f.write(ctx, "complete", part, f.queries.complete)
	}
	f.write(ctx, "fail", byVerdict[verdictFailed], f.queries.fail)
	f.write(ctx, "return", byVerdict[verdictReturned], f.queries.giveBack)
	byDelay := make(map[time.Duration][]outcome)
	for _, o := range byVerdict[verdictRateLimited] {
		byDelay[*o.delay] = append(byDelay[*o.delay], o)
	}
	for _, part := range byDelay {
		f.write(ctx, "return rate limited", part, f.queries.rateLimited)
	}
	// Behind a lost connection the server may still be busy with a transaction that holds these jobs. Then this call
	// waits for its end.
	f.write(ctx, "return", byVerdict[verdictCut], f.queries.giveBack)
	for _, o := range byVerdict[verdictLost] {
		f.reportLost(o)
	}
	for _, o := range byVerdict[verdictCommitted] {
		f.reportCommitted(o)
	}
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
	var retry connection.Backoff
	for tries := 1; ; tries++ {
		done, err := call(ctx, batch)
		isFinal := sqlstate.IsRefusedOutcome(err) && (tries >= maxDoubtfulTries || !sqlstate.IsDoubtful(err))
		if err == nil || isFinal || sqlstate.IsMistake(err) {
			return done, tries, err
		}
		f.queries.warn(f.logger, "outcomes could not be written, worker will try again", err,
			[]any{"verb", verb, "jobs", len(batch)}...)
		if !retry.Wait(ctx) {
			return nil, tries, err
		}
	}
}

// writeRefused handles an outcome that the database refuses, for example because a user's trigger raises an error. The
// job fails with that error, as if its handler had returned it. If the failure is refused, writeRefused tries a
// permanent failure. If that is refused too, every outcome would be: the job stays locked, so that it does not run
// again.
func (f *finisher) writeRefused(ctx context.Context, verb string, o outcome, refusal error, call writeFunc) {
	fail := call
	if verb != "fail" {
		fail = f.queries.fail
	}
	err := refusal
	for _, instead := range o.insteadOf(verb, refusal) {
		var done applied
		var tries int
		batch := []outcome{instead}
		if done, tries, err = f.persist(ctx, "fail", batch, fail); err == nil {
			batch, renewed := splitRenewed(batch, done)
			f.report(batch, done, tries)
			if len(renewed) > 0 {
				f.write(ctx, verb, []outcome{o}, call)
			}
			return
		}
		if !sqlstate.IsRefusedOutcome(err) {
			break
		}
	}
	if !sqlstate.IsRefusedOutcome(err) {
		f.lose(1, fmt.Errorf("fail job %d: %w", o.job.ID, err))
		return
	}
	f.left++
	f.about(o).Error("database refuses every outcome of a job, job stays locked until it is freed", "error", err)
}

func (o outcome) insteadOf(verb string, refusal error) (failures []outcome) {
	if o.verdict == verdictFailed {
		// The database's encoding may lack a character of the message.
		plain := o
		plain.message = strconv.QuoteToASCII(o.message)
		failures = append(failures, plain)
	}
	refused := o
	refused.verdict, refused.snoozed, refused.interrupted = verdictFailed, false, false
	refused.err = &RefusedError{Err: refusal, Returned: o.err}
	refused.message = cleanMessage(fmt.Sprintf("%s job: %v", verb, refusal))
	if o.message != "" {
		refused.message = strconv.QuoteToASCII(o.message) + "\n" + refused.message
	}
	// With the job's present payload, the completed part would be repeated.
	refused.permanent, refused.payload, refused.delay = o.permanent || o.payload != nil, nil, nil
	failures = append(failures, refused)
	if !refused.permanent {
		refused.permanent = true
		failures = append(failures, refused)
	}
	return failures
}

// maxDoubtfulTries is how often an outcome is tried while the error is doubtful: for some seconds.
const maxDoubtfulTries = 6

// report logs the results of outcomes and emits their events: those in done were written, the others were refused.
func (f *finisher) report(batch []outcome, done applied, tries int) {
	returned := 0
	for _, o := range batch {
		became, written := done.to(o.job.ID)
		o.job.hold.nextMayStart = became.next || o.verdict == verdictCompleted && tries > 1
		switch {
		case !written && (o.inTx || o.verdict == verdictCut && tries == 1):
			f.reportCommitted(o)
			continue
		case !written && tries > 1: // most likely it was
			f.tell(o, o.asked(), fate{})
			f.about(o).Warn("outcome not confirmed: it was written before the connection broke, or the lease is lost")
			continue
		case !written:
			f.reportLost(o)
			continue
		}
		if o.inTx && o.err == nil {
			o.err = errNotCommitted
		}
		end := o.end(became)
		f.tell(o, end, became)
		if !o.started && end == OutcomeReturned {
			returned++
			continue
		}
		f.logWritten(o, end, became)
	}
	if returned > 0 {
		f.logger.Info("jobs that had not started returned to the queue", "jobs", returned)
	}
}

func (f *finisher) reportLost(o outcome) {
	f.refused++
	f.tell(o, OutcomeLeaseLost, fate{})
	f.about(o).Warn("lease lost, outcome refused", "attempt", o.job.Attempts, "lease", o.job.hold.lease.Load())
}

// reportCommitted handles a job that was deleted when its handler returned.
func (f *finisher) reportCommitted(o outcome) {
	o.job.hold.nextMayStart = true
	f.tell(o, OutcomeCompleted, fate{})
	if o.err == nil && f.quiet {
		return
	}
	logger := f.about(o).With("duration_ms", milliseconds(o.duration))
	switch {
	case o.err != nil:
		logger.Warn("job completed by its handler, which then failed", "error", o.message)
	case o.job.hold.isWorkersTx():
		logger.Info("job completed")
	default:
		logger.Info("job completed", "by", "its handler")
	}
}

func (f *finisher) tell(o outcome, end Outcome, became fate) {
	if end == OutcomePermanentlyFailed {
		emit(f.events, JobFailed{Job: o.job.shown(), Duration: o.duration, Err: o.err})
	}
	reported := JobReported{
		Job: o.job.shown(), Outcome: end, Started: o.started, Duration: o.duration, Err: o.err,
		Attempts: became.attempts,
	}
	if end == OutcomeFailed || end == OutcomeSnoozed {
		reported.RetryIn = became.retryIn
	}
	if end == OutcomeRateLimited {
		reported.RetryIn = *o.delay
	}
	emit(f.events, reported)
}

func (f *finisher) logWritten(o outcome, end Outcome, became fate) {
	if end == OutcomeCompleted && (f.quiet || !f.logger.Enabled(context.Background(), slog.LevelInfo)) {
		return // most jobs of most workers
	}
	// One call of the logger, with all that is told: each may need a goroutine of its own; see package guard.
	about := []any{"task_identifier", o.job.TaskIdentifier, "job_id", o.job.ID, "duration_ms", milliseconds(o.duration)}
	if end == OutcomePermanentlyFailed || end == OutcomeFailed {
		about = append(about, []any{"attempt", o.job.Attempts, "max_attempts", became.maxAttempts}...)
	}
	switch end {
	case OutcomeCompleted:
		f.logger.Info("job completed", about...)
	case OutcomeSnoozed:
		f.logger.Info("job snoozed", append(about, []any{"retry_in_ms", milliseconds(became.retryIn)}...)...)
	case OutcomeRateLimited:
		f.logger.Warn("job was rate limited and returned",
			append(about, []any{"retry_in_ms", milliseconds(*o.delay), "error", o.message}...)...)
	case OutcomeReturned:
		if o.verdict == verdictCut {
			f.logger.Warn("connection lost, job returned", append(about, []any{"error", o.message}...)...)
			return
		}
		f.logger.Warn("job interrupted and returned", append(about, []any{"error", o.message}...)...)
	case OutcomePermanentlyFailed:
		f.logger.Warn("job permanently failed",
			append(about, []any{"attempts", became.attempts, "error", o.message}...)...)
	case OutcomeFailed:
		f.logger.Warn("job failed",
			append(about, []any{"retry_in_ms", milliseconds(became.retryIn), "error", o.message}...)...)
	}
}

func (f *finisher) about(o outcome) *slog.Logger {
	return f.logger.With("task_identifier", o.job.TaskIdentifier, "job_id", o.job.ID)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
