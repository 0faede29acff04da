package shim

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
)

// batches runs batches of jobs: inside the server, or by handlers that are given the transaction.
type batches struct {
	queries *queries
	tasks   *atomic.Pointer[taskSet]
	backlog *backlog
	events  *eventBus
	logger  *slog.Logger

	mu      sync.Mutex // held to write outcomes
	reports *finisher  // writes only outcomes that batches did not write themselves

	claiming sync.Mutex
	claimed  map[int64]struct{} // the jobs of these outcomes
}

// run runs a batch and reports its outcomes. Its error has no effect but that the jobs, which stay in the queue, are claimed.
func (b *batches) run(ctx context.Context, next *batch, e *executor) {
	end := batchEnd{failed: true, recorded: next.slot.size}
	defer func() { b.backlog.endBatch(next, end) }()
	task := b.tasks.Load().byName[next.of.name]
	if !task.isBatchable() || ctx.Err() != nil || next.slot.size == 0 && !b.begin(ctx, next, &end) {
		return
	}
	if task.inServer != nil {
		b.runInServer(ctx, next, task.inServer, &end)
	} else {
		b.runInTx(ctx, next, task, e, &end)
	}
}

// begin records that batches run in a slot. It returns whether they may.
func (b *batches) begin(ctx context.Context, next *batch, end *batchEnd) bool {
	may, err := b.queries.beginBatches(ctx, next)
	if may || err != nil { // unless the database has said no, there may be a record
		end.recorded = next.size
	}
	if isMistake(err) { // the schema is older than this worker, or is one for roles
		end.recorded = 0
		b.giveUp(next, end, err)
		return false
	}
	b.complain(ctx, next, err)
	return may && err == nil
}

// giveUp ends the batches of a task for long.
func (b *batches) giveUp(next *batch, end *batchEnd, err error) {
	end.never = true
	b.logger.Debug("jobs do not run in batches", "task_identifier", next.of.name, "error", err)
}

// stopped records why not all jobs of a batch ran: time, claim if the next one needs one always, the SQLSTATE of an error, or
// nothing.
func (b *batches) stopped(next *batch, end *batchEnd, why string) {
	end.cut, end.failed = why != "", why != "" && why != "time"
	switch {
	case why == "claim":
		b.giveUp(next, end, errNeedsClaim)
	case end.failed:
		b.logger.Debug("batch stopped early, its next job runs by a claim", "task_identifier", next.of.name, "sqlstate", why)
	}
}

func (b *batches) runInServer(ctx context.Context, next *batch, call *ServerCall, end *batchEnd) {
	emit(b.events, ClaimStarted{Limit: next.size})
	began := time.Now()
	details := b.events.hasListeners() || !b.reports.quiet && b.logger.Enabled(ctx, slog.LevelInfo)
	answer, err := b.queries.runBatch(ctx, call, next, details)
	took := time.Since(began)
	if err != nil {
		emit(b.events, ClaimFailed{Err: err, Duration: took})
		b.complain(ctx, next, err)
		return
	}
	*end = batchEnd{
		locked: answer.locked, next: answer.next, mean: answer.mean, recorded: max(end.recorded, answer.next),
		last: answer.last,
	}
	b.stopped(next, end, answer.stopped)
	if answer.ran == 0 {
		emit(b.events, ClaimEmpty{Duration: took})
		return
	}
	emit(b.events, ClaimSucceeded{Jobs: answer.ran, Duration: took})
	b.report(next.of.name, answer)
}

// complain logs why a batch was not run. Jobs run by claims then, so it is no error, except that this costs time.
func (b *batches) complain(ctx context.Context, next *batch, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	level := slog.LevelWarn
	if slices.Contains([]string{"57014", "40001", "40P01"}, sqlstate.Of(err)) {
		level = slog.LevelDebug // a job took longer than expected, or another transaction was in its way
	}
	b.logger.Log(ctx, level, "batch was rolled back, its jobs run by claims", "task_identifier", next.of.name, "jobs", next.size, "error", err)
}

// report emits the events of the jobs of a batch and logs their outcomes.
func (b *batches) report(name string, answer *batchAnswer) {
	failures := make(map[int]int, len(answer.failed)) // by position
	for at, position := range answer.failed {
		failures[int(position)-1] = at
	}
	for i, id := range answer.ids {
		at, hasFailed := failures[i]
		o := outcome{job: b.job(name, answer, i, id), started: true, verdict: completed, duration: answer.mean}
		became := fate{}
		if hasFailed {
			became = answer.became[at]
			o.job.MaxAttempts = became.maxAttempts
			o.verdict, o.err, o.message = failed, errors.New(answer.messages[at]), answer.messages[at]
			emit(b.events, JobStarted{Job: o.job})
			emit(b.events, JobErrored{Job: o.job, Duration: o.duration, Err: o.err})
		} else {
			emit(b.events, JobStarted{Job: o.job})
			emit(b.events, JobSucceeded{Job: o.job, Duration: o.duration})
		}
		end := o.end(became)
		b.reports.tell(o, end, became)
		b.reports.logWritten(o, end, became)
	}
}

// job returns a job that a batch has run, as far as it is known.
func (b *batches) job(name string, answer *batchAnswer, i int, id int64) *Job {
	job := &Job{ID: id, TaskIdentifier: name, Attempts: 1, Lease: answer.lease, worker: b.queries.worker, hold: &hold{}}
	if answer.priorities != nil {
		job.Priority, job.MaxAttempts = int(answer.priorities[i]), int(answer.maxAttempts[i])
		job.RunAt, job.CreatedAt = answer.runAts[i], answer.createdAts[i]
	}
	return job
}
