package shim_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAFailedCommitIsThatOfItsJobAlone(t *testing.T) {
	q := newOrders(t)
	q.retryLater()
	q.exec(`
		create function check_order() returns trigger language plpgsql as $$
		begin
		  if new.n = 700 then raise exception 'Not 700.'; end if;
		  return null;
		end $$;
		create constraint trigger check_order after insert on orders deferrable initially deferred for each row execute procedure check_order()`)
	q.addOrders(1500, nil)
	runOnce(t, q.orderly(q.pool, shim.Config{Concurrency: 2}))
	q.wantOrders(1500, 700)
	q.wantLeft("700:1 scheduled")
}
func TestEffectsAreDoneOnceHoweverOftenConnectionsAreLost(t *testing.T) {
	q := newOrders(t)
	const n = 3000
	q.addOrders(n, nil)
	q.exec(`update graphile_worker._private_jobs set max_attempts = 1000`) // each cut of a claimed job's transaction is a failure
	done := make(chan error, 2)
	for range cap(done) {
		w := q.orderly(pgtest.Pool(t, q.url), shim.Config{Concurrency: 3})
		go func() { done <- w.RunOnce(t.Context()) }()
	}
	pgtest.CutUntil(t, q.pool, done, "state like '%in transaction'", 30)
	// Jobs that a cut transaction of a claim took run again after their back-off. A claim that begins at the cursor of an earlier
	// one may not find them for half a second.
	q.exec(`update graphile_worker._private_jobs set run_at = now()`)
	for end := time.Now().Add(patience); q.jobs() > 0 && time.Now().Before(end); {
		runOnce(t, q.orderly(q.pool, shim.Config{Concurrency: 3}))
	}
	q.wantOrders(n)
	q.wantLeft("")
}

func TestAWorkerThatStopsInABatchLosesNothing(t *testing.T) {
	q := newOrders(t)
	const n = 5000
	q.addOrders(n, nil)
	w := q.orderly(pgtest.Pool(t, q.url), shim.Config{Concurrency: 2, QuietSuccess: true}).start()
	q.await(`select exists (select from graphile_worker._gw_batches) and exists (select from orders)`)
	w.stop()
	q.wantNeighbours(n, nil)
	if n := value[int](q, `select count(*) from graphile_worker._gw_batches`); n > 0 {
		t.Errorf("%d records of batches are left", n)
	}
}

// inBatch runs orders one after the other, and calls within for the third of a batch, once.
func (q *queue) inBatch(w *worker, within func(ctx context.Context, tx pgx.Tx, job *shim.Job) error, options ...shim.TaskOption) {
	var last int64
	row, called := 0, false
	shim.HandleTx(w.Worker, "order", func(ctx context.Context, tx pgx.Tx, o order, job *shim.Job) error {
		var transaction int64
		err := tx.QueryRow(ctx, `insert into orders values ($1::integer) returning txid_current()`, o.N).Scan(&transaction)
		if err != nil {
			return err
		}
		if transaction != last {
			last, row = transaction, 0
		}
		if row++; row < 3 || called {
			return nil
		}
		called = true
		return within(ctx, tx, job)
	}, options...)
}

// wantNeighbours checks that jobs are either done once or wait, without an attempt that counts; the two jobs before this one are done.
func (q *queue) wantNeighbours(n int, job *shim.Job) {
	q.t.Helper()
	wrong := value[string](q, `
		select coalesce(string_agg(n::text, ' '), '')
		  from (select n from generate_series(1, $1::integer) as n
		          left join (select o.n from orders as o
		                     union all
		                     select (j.payload ->> 'N')::integer from graphile_worker._private_jobs as j
		                      where j.locked_at is null and j.attempts = 0) as f (n) using (n)
		         group by n having count(f.n) <> 1) as wrong`, n)
	if wrong != "" {
		q.t.Errorf("neither done once nor waiting: %.200s", wrong)
	}
	if job != nil && !value[bool](q, `
		select count(*) = 1 and (select count(*) from graphile_worker._private_jobs as b where b.id between $1 - 2 and $1 - 1) = 0
		  from graphile_worker._private_jobs as j where j.id = $1`, job.ID) {
		q.t.Errorf("job %d is done, or those before it are not", job.ID)
	}
}

func TestAHandlerThatIsInterruptedInABatchDoesNotUndoItsNeighbours(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1000, nil)
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1, Grace: -1})
	events := record(w)
	stuck := make(chan *shim.Job, 1)
	q.inBatch(w, func(ctx context.Context, _ pgx.Tx, job *shim.Job) error {
		stuck <- job
		<-ctx.Done()
		return context.Cause(ctx)
	})
	w.start()
	job := receive(t, stuck)
	w.Kill()
	if err := w.wait(); err == nil || !strings.Contains(err.Error(), "jobs were interrupted: 1 of them") {
		t.Errorf("Run returned %v", err)
	}
	q.wantNeighbours(1000, job)
	if interrupted := only[shim.JobInterrupted](events()); len(interrupted) != 1 || interrupted[0].Job.ID != job.ID {
		t.Errorf("interrupted %+v", interrupted)
	}
}

func TestATimeoutInABatchIsThatOfItsJobAlone(t *testing.T) {
	q := newOrders(t)
	q.retryLater()
	q.addOrders(1000, nil)
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1})
	var job atomic.Pointer[shim.Job]
	hang := func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select pg_sleep(60)`) // the end of its context closes the connection
		return err
	}
	q.inBatch(w, func(ctx context.Context, tx pgx.Tx, j *shim.Job) error {
		job.Store(j)
		return hang(ctx, tx)
	}, shim.Timeout(2*time.Second))
	runOnce(t, w)
	q.wantOrders(1000)
	q.wantLeft("")
	if job.Load() == nil {
		t.Error("no job has timed out in a batch")
	}
}

func TestAHandlerInABatchRunsLongerThanAHeartbeat(t *testing.T) {
	q := newOrders(t)
	q.beatQuickly()
	q.addOrders(1000, nil)
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1})
	var called atomic.Bool
	q.inBatch(w, func(ctx context.Context, _ pgx.Tx, job *shim.Job) error {
		called.Store(true)
		begun := value[time.Time](q, `select clock_timestamp()`)
		q.await(`select bool_and(last_seen_at > $1::timestamptz + interval '1.5 seconds') from graphile_worker._gw_workers`, begun)
		if ctx.Err() != nil {
			t.Errorf("the context has ended: %v", context.Cause(ctx))
		}
		return nil
	})
	runOnce(t, w)
	q.wantOrders(1000)
	if lines, _ := w.logs.find("lease lost"); len(lines) > 0 || !called.Load() {
		t.Errorf("no job was in a batch, or its lease is taken for lost: %q", lines)
	}
}

func TestTheTransactionOfAJobIsClosedForItWhileTheBatchGoesOn(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1000, nil)
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1})
	var before pgx.Tx
	shim.HandleTx(w.Worker, "order", func(ctx context.Context, tx pgx.Tx, o order, _ *shim.Job) error {
		if before != nil {
			if err := write(ctx, before, o.N); !errors.Is(err, pgx.ErrTxClosed) {
				t.Errorf("the transaction of the job before returns %v", err)
			}
		}
		before = tx
		return write(ctx, tx, o.N)
	})
	runOnce(t, w)
	q.wantOrders(1000)
	q.wantShared()
}

func TestAWorkerThatDoesNotWaitForAHandlerEndsItsBatch(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1000, nil)
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1, Grace: -1})
	events := record(w)
	goOn, stuck := make(chan struct{}), make(chan *shim.Job, 1)
	defer close(goOn)
	q.inBatch(w, func(_ context.Context, _ pgx.Tx, job *shim.Job) error {
		stuck <- job
		<-goOn
		return nil
	})
	w.start()
	job := receive(t, stuck)
	w.Kill()
	if err := w.wait(); err == nil || !strings.Contains(err.Error(), "jobs were interrupted: 1 of them") {
		t.Errorf("Run returned %v", err)
	}
	q.await(`select not exists (select from pg_stat_activity where datname = current_database() and state like '%in transaction')`)
	q.wantNeighbours(1000, nil)
	returned := 0
	for _, reported := range only[shim.JobReported](events()) {
		if reported.Outcome == shim.OutcomeReturned && reported.Started {
			returned++
		}
	}
	if returned < 3 || !value[bool](q, `select exists (select from graphile_worker.jobs where id = $1)`, job.ID) {
		t.Errorf("%d jobs that had started were reported as returned, want 3", returned)
	}
}
