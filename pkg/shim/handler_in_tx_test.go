package shim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// newOrders is newQueue with a table that handlers write to by their transactions.
func newOrders(t *testing.T) *queue {
	q := newQueue(t)
	q.exec(`create table orders (n integer, transaction text default txid_current()::text)`)
	return q
}

// order is the payload of a job: what its handler is to do.
type order struct {
	N  int
	Do string
}

// addOrders adds jobs of the task "order" numbered from 1 to n; what some of them do, by number.
func (q *queue) addOrders(n int, does map[int]string) {
	q.t.Helper()
	q.exec(`
		select graphile_worker.add_job('order', json_build_object('N', n), max_attempts => 3, run_at => now() - interval '1 minute')
		  from generate_series(1, $1::integer) as n`, n)
	for number, do := range does {
		q.exec(`update graphile_worker._private_jobs set payload = json_build_object('N', $1::integer, 'Do', $2::text)
		         where payload ->> 'N' = $1::integer::text`, number, do)
	}
}

// retryLater makes each retry due an hour later, so that it does not run within the test.
func (q *queue) retryLater() {
	q.t.Helper()
	q.exec(`
		create function retry_later() returns trigger language plpgsql as
		  'begin new.run_at := new.run_at + interval ''1 hour''; return new; end';
		create trigger retry_later before update on graphile_worker._private_jobs
		  for each row when (new.last_error is distinct from old.last_error) execute procedure retry_later()`)
}

// write writes the order.
func write(ctx context.Context, tx pgx.Tx, n int) error {
	_, err := tx.Exec(ctx, `insert into orders values ($1::integer)`, n)
	return err
}

// wantOrders checks that the orders up to n were written once, except some.
func (q *queue) wantOrders(n int, except ...int) {
	q.t.Helper()
	if except == nil {
		except = []int{}
	}
	wrong := value[string](q, `
		select coalesce(string_agg(format('%s: %s times', w.n, w.times), ', '), '')
		  from (select n, count(o.n) as times from generate_series(1, $1::integer) as n left join orders as o using (n) group by n) as w
		 where w.times <> case when w.n = any ($2::integer[]) then 0 else 1 end`, n, except)
	if wrong != "" {
		q.t.Errorf("orders are wrong: %.500s", wrong)
	}
}

// left returns the jobs that are left, as number:attempts state.
func (q *queue) left() string {
	q.t.Helper()
	return value[string](q, `
		select coalesce(string_agg(format('%s:%s %s', p.payload ->> 'N', p.attempts, graphile_worker.job_state(p.run_at, p.attempts, p.max_attempts, p.locked_at)),
		                           ', ' order by p.id), '')
		  from graphile_worker._private_jobs as p`)
}

func (q *queue) wantLeft(want string) {
	q.t.Helper()
	if left := q.left(); left != want {
		q.t.Errorf("jobs left are %.300q, want %q", left, want)
	}
}

var errNo = errors.New("no such order")

// handleOrder writes the order, and then does what the job says.
func handleOrder(ctx context.Context, tx pgx.Tx, o order, job *shim.Job) error {
	if err := write(ctx, tx, o.N); err != nil {
		return err
	}
	switch o.Do {
	case "fail":
		return errNo
	case "retry":
		return shim.RetryIn(time.Hour, errNo)
	case "discard":
		return shim.Discard(errNo)
	case "snooze":
		return shim.Snooze(time.Hour)
	case "limit":
		return shim.RateLimited(time.Hour)
	case "panic":
		panic("no")
	case "exit":
		runtime.Goexit()
	case "commit":
		return tx.Commit(ctx)
	case "sql commit":
		_, err := tx.Exec(ctx, `commit`)
		return err
	case "abort":
		_, _ = tx.Exec(ctx, `select 1 / 0`)
	case "rows":
		_, err := tx.Query(ctx, `select * from generate_series(1, 10000)`)
		return err
	case "savepoint":
		err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { return errors.Join(write(ctx, inner, o.N), errNo) })
		if !errors.Is(err, errNo) {
			return fmt.Errorf("savepoint: %w", err)
		}
	case "conflict":
		_, err := tx.Exec(ctx, "do $$ begin raise exception 'As asked.' using errcode = '40001'; end $$")
		return err
	case "step":
		_, err := shim.Step(ctx, job, "one", func(context.Context) (int, error) { return 1, nil })
		return err
	case "result":
		return job.SetResult(o.N)
	case "large":
		return job.SetResult(strings.Repeat("x", 2000))
	}
	return nil
}

// orderly returns a worker that runs orders.
func (q *queue) orderly(pool *pgxpool.Pool, cfg shim.Config, options ...shim.TaskOption) *worker {
	q.t.Helper()
	w := q.workerOn(pool, cfg)
	shim.HandleTx(w.Worker, "order", handleOrder, options...)
	return w
}

func TestWhatAHandlerWritesByItsTransactionIsCommittedWithTheJob(t *testing.T) {
	for do, c := range map[string]struct{ left, lastError string }{
		"":          {"", ""},
		"savepoint": {"", ""},
		"step":      {"", ""},
		"conflict":  {"1:1 scheduled", "As asked."},
		"fail":      {"1:1 scheduled", "no such order"},
		"retry":     {"1:1 scheduled", "no such order"},
		"discard":   {"1:3 failed", "no such order"},
		"snooze":    {"1:0 scheduled", ""},
		"limit":     {"1:0 scheduled", ""},
		"panic":     {"1:1 scheduled", "panic: no"},
		"exit":      {"1:1 scheduled", "handler ended its goroutine"},
		"commit":    {"1:1 scheduled", "the worker ends this transaction: return nil to commit it"},
		"abort":     {"1:1 scheduled", "the transaction is aborted by an error of a statement"},
		"rows":      {"1:1 scheduled", "the handler has left rows of the transaction open"},
	} {
		t.Run(do, func(t *testing.T) {
			q := newOrders(t)
			q.addOrders(1, map[int]string{1: do})
			w := q.orderly(q.pool, shim.Config{})
			events := record(w)
			runOnce(t, w)
			q.wantLeft(c.left)
			if c.left == "" {
				q.wantOrders(1)
				w.logs.await(t, "INFO job completed", "duration_ms=")
			} else {
				q.wantOrders(1, 1)
			}
			if last := value[string](q, `select coalesce(max(last_error), '') from graphile_worker._private_jobs`); !strings.Contains(last, c.lastError) {
				t.Errorf("last error is %q, want %q", last, c.lastError)
			}
			if n := len(ends(events())); n != 1 {
				t.Errorf("%d outcomes were reported", n)
			}
		})
	}
}

func TestEachJobHasItsOwnTransactionHoweverManyAreDue(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1000, nil)
	runOnce(t, q.orderly(q.pool, shim.Config{Concurrency: 4}))
	q.wantOrders(1000)
	q.wantLeft("")
	if n := q.transactions(); n != 1000 {
		t.Errorf("there were %d transactions", n)
	}
}

// Nothing can undo what a handler commits by SQL; but it is told.
func TestAHandlerThatEndsTheTransactionBySQLFails(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1, map[int]string{1: "sql commit"})
	runOnce(t, q.orderly(q.pool, shim.Config{}))
	q.wantLeft("1:1 scheduled")
	if last := value[string](q, `select last_error from graphile_worker._private_jobs`); !strings.Contains(last,
		"has ended the transaction") {
		t.Errorf("last error is %q", last)
	}
}

func TestAHandlerThatDoesNotUseItsTransactionNeedsNoConnection(t *testing.T) {
	q := newOrders(t)
	pool := pgtest.Pool(t, q.url)
	q.exec(`select graphile_worker.add_job('none', job_key => 'k')`)
	w := q.workerOn(pool, shim.Config{})
	w.HandleTx("none", func(context.Context, pgx.Tx, *shim.Job) error {
		if n := pool.Stat().AcquiredConns(); n > 0 {
			t.Errorf("%d connections are in use", n)
		}
		return nil
	})
	runOnce(t, w)
	q.wantLeft("")
}

func TestTheTransactionOfALostJobIsRolledBack(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1, nil)
	w := q.worker(shim.Config{})
	events := record(w)
	w.HandleTx("order", func(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
		q.exec(`select graphile_worker.force_unlock_workers(array[$1])`, w.ID())
		q.exec(`select id from graphile_worker.get_job('another', array['order'])`)
		return write(ctx, tx, 1)
	})
	runOnce(t, w)
	q.wantOrders(1, 1)
	q.wantLeft("1:2 running")
	if reported := only[shim.JobReported](events()); len(reported) != 1 ||
		reported[0].Outcome != shim.OutcomeLeaseLost {
		t.Errorf("reported %+v", reported)
	}
}

func TestMiddlewareDecidesAboutTheTransaction(t *testing.T) {
	for name, c := range map[string]struct {
		do         string
		middleware shim.Middleware
		left       string
		orders     int
	}{
		"it fails a job": {"", func(next shim.Handler) shim.Handler {
			return func(ctx context.Context, job *shim.Job) error { return errors.Join(next(ctx, job), errNo) }
		}, "1:1 scheduled", 0},
		"it drops an error": {"fail", func(next shim.Handler) shim.Handler {
			return func(ctx context.Context, job *shim.Job) error { _ = next(ctx, job); return nil }
		}, "", 0},
		"it calls again": {"abort", func(next shim.Handler) shim.Handler {
			return func(ctx context.Context, job *shim.Job) error {
				_ = next(ctx, job)
				return next(ctx, job)
			}
		}, "1:1 scheduled", 0},
		"it passes another job": {"", func(next shim.Handler) shim.Handler {
			return func(ctx context.Context, job *shim.Job) error { return next(ctx, &shim.Job{Payload: job.Payload}) }
		}, "1:1 scheduled", 0},
	} {
		t.Run(name, func(t *testing.T) {
			q := newOrders(t)
			q.addOrders(1, map[int]string{1: c.do})
			runOnce(t, q.orderly(q.pool, shim.Config{Middleware: []shim.Middleware{c.middleware}}))
			q.wantLeft(c.left)
			if n := value[int](q, `select count(*) from orders`); n != c.orders {
				t.Errorf("%d orders were written, want %d", n, c.orders)
			}
		})
	}
}

func TestAHandlerIsNotLetUseWhatTheWorkerDoes(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1, nil)
	w := q.worker(shim.Config{})
	var kept pgx.Tx
	w.HandleTx("order", func(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
		kept = tx
		_, completion := shim.CompletionOf([]*shim.Job{job})
		for name, err := range map[string]error{
			"CompleteTx": job.CompleteTx(ctx, tx), "CompletionOf": completion, "Commit": tx.Commit(ctx),
			"Rollback": tx.Rollback(ctx),
		} {
			if err == nil || !strings.Contains(err.Error(), "the worker") {
				t.Errorf("%s returned %v", name, err)
			}
		}
		return write(ctx, tx, 1)
	})
	runOnce(t, w)
	q.wantOrders(1)
	q.wantLeft("")
	if err := write(t.Context(), kept, 2); !errors.Is(err, pgx.ErrTxClosed) {
		t.Errorf("after the handler has returned, the transaction returns %v", err)
	}
	if _, err := kept.Query(t.Context(), `select 1`); !errors.Is(err, pgx.ErrTxClosed) {
		t.Errorf("and a query %v", err)
	}
	if err := kept.QueryRow(t.Context(), `select 1`).Scan(new(int)); !errors.Is(err, pgx.ErrTxClosed) {
		t.Errorf("and of a row %v", err)
	}
}

func TestATimeoutUndoesTheTransaction(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1, nil)
	w := q.worker(shim.Config{})
	w.HandleTx("order", func(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
		if err := write(ctx, tx, 1); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `select pg_sleep(60)`)
		return err
	}, shim.Timeout(100*time.Millisecond))
	runOnce(t, w)
	q.wantOrders(1, 1)
	q.wantLeft("1:1 scheduled")
	if last := value[string](q, `select last_error from graphile_worker._private_jobs`); !strings.HasPrefix(last,
		"timed out after 100ms") {
		t.Errorf("last error is %q", last)
	}
}
