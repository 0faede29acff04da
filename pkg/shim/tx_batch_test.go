package shim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// retryLater makes each retry due an hour later, so that it does not run within the test.
func (q *queue) retryLater() {
	q.t.Helper()
	q.exec(`
		create function retry_later() returns trigger language plpgsql as
		  'begin new.run_at := new.run_at + interval ''1 hour''; return new; end';
		create trigger retry_later before update on graphile_worker._private_jobs
		  for each row when (new.last_error is distinct from old.last_error) execute procedure retry_later()`)
}

func TestJobsShareTransactionsThatTheirHandlersAreGiven(t *testing.T) {
	q := newOrders(t)
	q.addOrders(2000, nil)
	w := q.worker(shim.Config{Concurrency: 4})
	var started, succeeded, reported atomic.Int64
	shim.On(w.Worker, func(e shim.JobStarted) {
		if job := e.Job; job.Attempts == 1 && job.MaxAttempts == 3 && !job.CreatedAt.IsZero() && job.TaskIdentifier == "order" && job.Lease > 0 {
			started.Add(1)
		}
	})
	shim.On(w.Worker, func(shim.JobSucceeded) { succeeded.Add(1) })
	shim.On(w.Worker, func(e shim.JobReported) {
		if e.Outcome == shim.OutcomeCompleted && e.Started && e.Duration > 0 {
			reported.Add(1)
		}
	})
	shim.HandleTx(w.Worker, "order", func(ctx context.Context, tx pgx.Tx, o order, job *shim.Job) error {
		if found, ok := shim.JobFromContext(ctx); !ok || found != job {
			t.Errorf("the context has %v", found)
		}
		return handleOrder(ctx, tx, o, job)
	})
	runOnce(t, w)
	q.wantOrders(2000)
	q.wantLeft("")
	q.wantShared()
	if started.Load() != 2000 || succeeded.Load() != 2000 || reported.Load() != 2000 {
		t.Errorf("%d jobs started, %d succeeded, %d were reported, want 2000", started.Load(), succeeded.Load(), reported.Load())
	}
	if n := value[int](q, `select count(*) from graphile_worker._gw_batches`); n > 0 {
		t.Errorf("%d records of batches are left", n)
	}
}

func TestEachJobHasItsOwnTransactionIfItIsToldSo(t *testing.T) {
	q := newOrders(t)
	q.addOrders(300, nil)
	runOnce(t, q.orderly(q.pool, shim.Config{Concurrency: 4}, shim.TxPerJob()))
	q.wantOrders(300)
	q.wantUnshared()
}

// Every way in which a job of a batch can end has the same effect as for a claimed job, and none on its neighbours.
func TestAJobOfABatchEndsAsOneThatWasClaimed(t *testing.T) {
	for do, c := range map[string]struct {
		left    string // with attempts, state
		outcome shim.Outcome
	}{
		"fail":                {"700:1 scheduled", shim.OutcomeFailed},
		"retry":               {"700:1 scheduled", shim.OutcomeFailed},
		"discard":             {"700:3 failed", shim.OutcomePermanentlyFailed},
		"snooze":              {"700:0 scheduled", shim.OutcomeSnoozed},
		"limit":               {"700:0 scheduled", shim.OutcomeRateLimited},
		"panic":               {"700:1 scheduled", shim.OutcomeFailed},
		"exit":                {"700:1 scheduled", shim.OutcomeFailed},
		"commit":              {"700:1 scheduled", shim.OutcomeFailed},
		"abort":               {"700:1 scheduled", shim.OutcomeFailed},
		"rows":                {"700:1 scheduled", shim.OutcomeFailed},
		"conflict of a batch": {"", shim.OutcomeCompleted},
		"savepoint":           {"", shim.OutcomeCompleted},
		"step":                {"", shim.OutcomeCompleted},
		"result":              {"", shim.OutcomeCompleted},
		"large":               {"700:1 scheduled", shim.OutcomeFailed},
		"sql commit":          {"700:1 scheduled", shim.OutcomeFailed},
	} {
		t.Run(do, func(t *testing.T) {
			q := newOrders(t)
			q.retryLater()
			q.addOrders(1500, map[int]string{700: do})
			q.exec(`select graphile_worker.keep_task('order', '1 day', results => true), graphile_worker.set_setting('max_result', '1024')`)
			w := q.orderly(pgtest.Pool(t, q.url), shim.Config{Concurrency: 2})
			var mu sync.Mutex
			var outcomes []shim.Outcome
			shim.On(w.Worker, func(e shim.JobReported) {
				if strings.Contains(string(e.Job.Payload), do) && e.Outcome != shim.OutcomeReturned {
					mu.Lock()
					defer mu.Unlock()
					outcomes = append(outcomes, e.Outcome)
				}
			})
			runOnce(t, w)
			q.wantLeft(c.left)
			switch {
			case do == "sql commit": // what such a handler commits is not undone; its neighbours in the batch may run again
				if n := value[int](q, `select count(distinct n) from orders`); n != 1500 {
					t.Errorf("%d orders were written", n)
				}
			case c.left == "":
				q.wantOrders(1500)
			default:
				q.wantOrders(1500, 700)
			}
			if !slices.Equal(outcomes, []shim.Outcome{c.outcome}) {
				t.Errorf("outcomes are %v, want %s", outcomes, c.outcome)
			}
			q.wantShared()
			// Each job that is gone has completed in its first attempt.
			if n := value[int](q, `
				select coalesce(sum(cardinality(e.job_ids)), 0) from graphile_worker._gw_ended as e
				 where e.outcome = 'completed' and e.attempts is null and e.worker_id = $1`, w.ID()); c.left == "" && n != 1500 || n < 1499 {
				t.Errorf("the history has %d jobs that completed in their first attempt", n)
			}
			if result := value[string](q, `select coalesce(max(e.result::text), 'none') from graphile_worker._gw_ended as e`); do == "result" && result != "700" {
				t.Errorf("the result is %s", result)
			}
		})
	}
}

func TestFailuresInABatchHaveTheirAttemptsInTheHistory(t *testing.T) {
	q := newOrders(t)
	q.retryLater()
	q.exec(`select graphile_worker.keep_task('order', '1 day')`)
	q.addOrders(1000, map[int]string{500: "fail", 501: "discard", 502: "fail"})
	w := q.orderly(q.pool, shim.Config{Concurrency: 2})
	ids := value[[]int64](q, `select array_agg(p.id order by p.id) from graphile_worker._private_jobs as p where p.payload ->> 'Do' <> ''`)
	runOnce(t, w)
	got := value[string](q, `
		select string_agg(format('%s %s', h.attempt, h.outcome), ', ' order by u.id)
		  from unnest($1::bigint[]) as u (id) cross join lateral graphile_worker.job_history(u.id) as h
		 where h.outcome <> 'returned'`, ids) // by a slow machine
	if want := "1 failed, 1 permanently_failed, 1 failed"; got != want {
		t.Errorf("the history is %q, want %q", got, want)
	}
	q.wantLeft("500:1 scheduled, 501:3 failed, 502:1 scheduled")
	q.wantOrders(1000, 500, 501, 502)
}

func TestBatchesWithTransactionsRunInEachQueryMode(t *testing.T) {
	for _, mode := range pgtest.QueryModes {
		t.Run(mode.String(), func(t *testing.T) {
			q := newOrders(t)
			q.retryLater()
			q.exec(`select graphile_worker.keep_task('order', '1 day', results => true)`)
			q.addOrders(1000, map[int]string{400: "fail", 450: "result"})
			runOnce(t, q.orderly(q.poolInMode(mode), shim.Config{Concurrency: 2}))
			q.wantOrders(1000, 400)
			q.wantLeft("400:1 scheduled")
			q.wantShared()
		})
	}
}

// The first statement of a job is sent with a savepoint, whatever it is.
func TestEachKindOfStatementMayBeTheFirstOfAJob(t *testing.T) {
	insert := `insert into orders values ($1::integer) returning n`
	statements := map[string]func(ctx context.Context, tx pgx.Tx, n int) error{
		"Exec": write,
		"Exec without arguments": func(ctx context.Context, tx pgx.Tx, n int) error {
			_, err := tx.Exec(ctx, fmt.Sprintf(`insert into orders values (%d); select 1`, n))
			return err
		},
		"Exec with an option": func(ctx context.Context, tx pgx.Tx, n int) error {
			_, err := tx.Exec(ctx, insert, pgx.QueryExecModeSimpleProtocol, n)
			return err
		},
		"Exec with names": func(ctx context.Context, tx pgx.Tx, n int) error {
			_, err := tx.Exec(ctx, `insert into orders values (@n::integer)`, pgx.NamedArgs{"n": n})
			return err
		},
		"QueryRow": func(ctx context.Context, tx pgx.Tx, n int) error {
			return tx.QueryRow(ctx, insert, n).Scan(&n)
		},
		"Query": func(ctx context.Context, tx pgx.Tx, n int) error {
			rows, err := tx.Query(ctx, insert, n)
			if err != nil {
				return err
			}
			found, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
			if err == nil && found != n {
				err = fmt.Errorf("found %d", found)
			}
			return err
		},
		"a row that is not scanned": func(ctx context.Context, tx pgx.Tx, n int) error {
			rows, err := tx.Query(ctx, insert, n)
			if err != nil || !rows.Next() {
				return errors.Join(errNo, err)
			}
			if err := rows.Scan(new(time.Time)); err == nil {
				return errNo
			}
			return tx.QueryRow(ctx, `select $1::integer`, n).Scan(&n)
		},
		"SendBatch": func(ctx context.Context, tx pgx.Tx, n int) error {
			var b pgx.Batch
			b.Queue(insert, n)
			return tx.SendBatch(ctx, &b).Close()
		},
		"CopyFrom": func(ctx context.Context, tx pgx.Tx, n int) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"n"}, pgx.CopyFromRows([][]any{{int32(n)}}))
			return err
		},
		"Begin": func(ctx context.Context, tx pgx.Tx, n int) error {
			return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return write(ctx, tx, n) })
		},
		"Conn": func(ctx context.Context, tx pgx.Tx, n int) error {
			_, err := tx.Conn().Exec(ctx, insert, n)
			return err
		},
		"an invalid one": func(ctx context.Context, tx pgx.Tx, n int) error {
			if n == 333 {
				_, err := tx.Exec(ctx, `insert into no_such_table values ($1)`, n)
				return err
			}
			return write(ctx, tx, n)
		},
		"one that fails": func(ctx context.Context, tx pgx.Tx, n int) error {
			if n == 333 {
				_, err := tx.Exec(ctx, `select 1 / ($1 - 333)`, n)
				return err
			}
			return write(ctx, tx, n)
		},
	}
	for name, statement := range statements {
		t.Run(name, func(t *testing.T) {
			q := newOrders(t)
			q.retryLater()
			for range 3 { // on a machine that is slow at that moment no jobs may share a transaction
				q.exec(`truncate orders, graphile_worker._private_jobs`)
				q.addOrders(600, map[int]string{300: "fail"})
				w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1})
				shim.HandleTx(w.Worker, "order", func(ctx context.Context, tx pgx.Tx, o order, _ *shim.Job) error {
					if err := statement(ctx, tx, o.N); err != nil {
						return err
					}
					if o.Do == "fail" {
						return errNo
					}
					return nil
				})
				runOnce(t, w)
				if strings.HasPrefix(name, "an invalid") || strings.HasPrefix(name, "one that") {
					q.wantOrders(600, 300, 333)
					q.wantLeft("300:1 scheduled, 333:1 scheduled")
				} else {
					q.wantOrders(600, 300)
					q.wantLeft("300:1 scheduled")
				}
				if q.haveShared() {
					return
				}
			}
			q.wantShared()
		})
	}
}

func TestJobsThatDoNotFitBatchesRunBesideThem(t *testing.T) {
	q := newOrders(t)
	q.addOrders(1000, nil)
	q.exec(`
		update graphile_worker._private_jobs set key = payload ->> 'N' where (payload ->> 'N')::integer % 10 = 0;
		update graphile_worker._private_jobs set attempts = 1 where (payload ->> 'N')::integer % 10 = 1;
		update graphile_worker._private_jobs set flags = '{"f": true}' where (payload ->> 'N')::integer % 10 = 2;
		select graphile_worker.add_job('order', json_build_object('N', 1000 + n), queue_name := 'q') from generate_series(1, 10) as n`)
	runOnce(t, q.orderly(q.pool, shim.Config{Concurrency: 2}))
	q.wantOrders(1010)
	q.wantLeft("")
}

func TestMiddlewareAndPropagatorsApplyToJobsOfBatches(t *testing.T) {
	q := newOrders(t)
	var seen, passed atomic.Int64
	w := q.worker(shim.Config{Concurrency: 2, Middleware: []shim.Middleware{func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) error {
			seen.Add(1)
			return next(ctx, job)
		}
	}}, Propagator: letters{}})
	client := shim.NewClient(q.pool, shim.ClientConfig{Propagator: letters{}})
	for n := range 2 {
		specs := make([]shim.JobSpec, 400)
		for i := range specs {
			specs[i] = shim.JobSpec{Task: "order", Payload: order{N: 400*n + i + 1}}
		}
		if _, err := client.AddMany(withLetter(t.Context(), fmt.Sprint("letter ", n)), specs); err != nil {
			t.Fatal(err)
		}
	}
	shim.HandleTx(w.Worker, "order", func(ctx context.Context, tx pgx.Tx, o order, _ *shim.Job) error {
		if letterOf(ctx) == fmt.Sprint("letter ", (o.N-1)/400) {
			passed.Add(1)
		}
		return write(ctx, tx, o.N)
	})
	runOnce(t, w)
	q.wantOrders(800)
	if seen.Load() != 800 || passed.Load() != 800 {
		t.Errorf("the middleware has seen %d jobs, %d had their values", seen.Load(), passed.Load())
	}
	q.wantShared()
}

func TestBatchesRunOnlyAtReadCommitted(t *testing.T) {
	q := newOrders(t)
	config, err := pgxpool.ParseConfig(q.url)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "repeatable read"
	pool := q.poolOf(config)
	q.addOrders(300, nil)
	runOnce(t, q.orderly(pool, shim.Config{Concurrency: 1}))
	q.wantOrders(300)
	q.wantUnshared()
}
