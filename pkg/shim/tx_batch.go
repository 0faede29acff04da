package shim

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
)

const (
	// txBatchTime is how long a batch takes before it ends between two jobs, as one inside the server.
	txBatchTime = 50 * time.Millisecond
	// mostSavepoints is the maximum number of savepoints in a batch. With more than 64 in a transaction that writes, other
	// transactions have to look up on disk which of them belong together.
	mostSavepoints = 60
)

var (
	// errNeedsClaim is returned for a call that needs the lease of a job whose batch has not claimed it.
	errNeedsClaim = errors.New("the job is part of a batch and is returned, to run by a claim")
	errBatchLost  = errors.New("the batch of the job was rolled back")
)

// mustBeClaimed returns an error for a job that is part of a batch. The job then runs by a claim, whatever its handler
// returns.
func (h *hold) mustBeClaimed() error {
	if h.batch == nil {
		return nil
	}
	h.batch.needsClaim.Store(true)
	return errNeedsClaim
}

// txBatch is a transaction that has locked jobs and gives them to their handlers. The worker has not claimed them: the
// commit deletes the completed ones, and claims those with other outcomes, which are written after it as those of any
// claimed job.
type txBatch struct {
	batches  *batches
	executor *executor
	task     task
	next     *batch
	end      *batchEnd
	conn     *pgx.Conn

	tx         pgx.Tx
	jobs       []*Job
	places     []string // of the rows
	savepoints int
	isFresh    bool // nothing was written since the savepoint
	mean       time.Duration
	ran        int
	needsClaim atomic.Bool // the present job
	isSent     bool        // the commit was sent

	mu        sync.Mutex
	outcomes  []outcome // of the first jobs
	stopped   string    // why not all jobs ran
	isBroken  bool      // the transaction cannot be committed
	abandoned bool      // a handler did not return, so that its outcomes were reported already
}

// runInTx runs a batch whose handlers are given the transaction.
func (b *batches) runInTx(ctx context.Context, next *batch, task task, e *executor, end *batchEnd) {
	emit(b.events, ClaimStarted{Limit: next.size})
	began := time.Now()
	r := &txBatch{batches: b, executor: e, task: task, next: next, end: end}
	acquiring, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, err := b.queries.worker.pool.Acquire(acquiring)
	if err == nil {
		defer conn.Release()
		r.conn = conn.Conn()
		err = r.lock(acquiring)
	}
	took := time.Since(began)
	switch {
	case err != nil:
		emit(b.events, ClaimFailed{Err: err, Duration: took})
		r.fail(err)
		return
	case len(r.jobs) == 0:
		emit(b.events, ClaimEmpty{Duration: took})
		r.rollBack(nil)
		*end = batchEnd{recorded: end.recorded}
		return
	}
	emit(b.events, ClaimSucceeded{Jobs: len(r.jobs), Duration: took})
	b.queries.readCarried(ctx, r.jobs)
	defer r.finish() // also if a handler ends the goroutine
	r.run()
}

// run calls the handlers.
func (r *txBatch) run() {
	r.executor.setBatch(r)
	began := time.Now()
	defer func() {
		r.executor.setBatch(nil)
		if r.ran > 0 {
			r.mean = max(time.Since(began)/time.Duration(r.ran), 1)
		}
	}()
	var job [1]*Job
	for i := range r.jobs {
		if i > 0 && (time.Since(began) > txBatchTime || r.savepoints >= mostSavepoints && !r.isFresh || r.batches.backlog.isClosed()) {
			r.stop("time")
			return
		}
		if job[0] = r.jobs[i]; !r.executor.begin(job[:]) {
			r.stop("time")
			return
		}
		r.ran++
		r.executor.execute(job[0], r.task)
		if r.stopped != "" || r.executor.isLeft {
			return
		}
	}
}

// call calls the handler of a job within the batch.
func (r *txBatch) call(ctx context.Context, job *Job, task task) error {
	r.needsClaim.Store(false)
	tx := &handlerTx{begin: r.savepoint, rollBack: r.rollBackTo, batch: r}
	return tx.call(ctx, job, task, func(err error) error {
		if r.needsClaim.Load() {
			return errNeedsClaim
		}
		return err
	})
}

// ended records the outcome of a job whose handler has returned.
func (r *txBatch) ended(o outcome) {
	conn := r.conn.PgConn()
	r.mu.Lock()
	defer r.mu.Unlock()
	state := sqlstate.Of(o.err)
	switch {
	case conn.IsClosed() || conn.IsBusy() || conn.TxStatus() != 'T':
		r.isBroken, r.stopped = true, "connection"
		o.verdict, o.err = released, errors.Join(errBatchLost, o.err)
	case r.needsClaim.Load():
		r.stopped = "claim"
		o.verdict = released
	case o.verdict == failed && !o.permanent && isDueToBatch(o.err):
		r.stopped = state
		o.verdict = released
	case o.verdict == returned && !o.snoozed:
		o.verdict = released
	}
	if o.verdict == released {
		emit(r.batches.events, JobInterrupted{Job: o.job, Duration: o.duration, Err: o.err})
	} else {
		r.executor.tell(o)
	}
	r.outcomes = append(r.outcomes, o)
}

// isDueToBatch reports whether the error of a handler may be due to the other jobs of its batch, or cannot be handled
// within one, as the SQL function _gw_is_due_to_batch does.
func isDueToBatch(err error) bool {
	return inClass(err, "25", "2D", "40", "53", "54", "55", "57", "58", "XX")
}

func (r *txBatch) stop(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = why
}

// savepoint begins what one job writes.
func (r *txBatch) savepoint(ctx context.Context) (pgx.Tx, error) {
	if !r.isFresh {
		if _, err := r.conn.Exec(ctx, "release savepoint gw_job; savepoint gw_job"); err != nil {
			return nil, err
		}
	}
	r.isFresh = false
	r.savepoints++
	return r.tx, nil
}

func (r *txBatch) rollBackTo(ctx context.Context, _ pgx.Tx) error {
	if _, err := r.conn.Exec(ctx, "rollback to savepoint gw_job"); err != nil {
		_ = r.conn.Close(ctx)
		return err
	}
	r.isFresh = true
	return nil
}

// abandon reports the jobs of a batch in which a handler did not return after its context ended, and closes its connection.
func (r *txBatch) abandon(job *Job, duration time.Duration) {
	r.mu.Lock()
	outcomes := r.outcomes
	r.outcomes, r.abandoned = nil, true
	r.mu.Unlock()
	_ = r.conn.PgConn().Conn().Close() // the handler may be using it
	o := outcome{
		job: job, started: true, interrupted: true, duration: duration, err: errDidNotReturn, message: errDidNotReturn.Error(),
	}
	r.executor.tell(o)
	for _, o := range append(outcomes, o) {
		o.verdict = released
		r.executor.outcomes <- o
	}
}
