package shim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

const endSession = `select pg_terminate_backend(pg_backend_pid())`

// addOnce adds a job that has one attempt.
func (q *queue) addOnce() {
	q.t.Helper()
	q.exec(`select graphile_worker.add_job('task', max_attempts => 1)`)
}

// endings are the ways in which a handler loses its connection, whose error it may hide.
var endings = map[string]func(pool *pgxpool.Pool, breaks func() bool) shim.Task{
	"WithConn": func(_ *pgxpool.Pool, breaks func() bool) shim.Task {
		return shim.Task{Handler: func(ctx context.Context, job *shim.Job) error {
			return job.WithConn(ctx, func(conn *pgx.Conn) error { return end(ctx, conn, breaks) })
		}}
	},
	"the pool": func(pool *pgxpool.Pool, breaks func() bool) shim.Task {
		return shim.Task{Handler: func(ctx context.Context, _ *shim.Job) error {
			return errors.Join(end(ctx, pool, breaks))
		}}
	},
	"a handler of many": func(pool *pgxpool.Pool, breaks func() bool) shim.Task {
		return shim.Task{Most: 2, Many: func(ctx context.Context,
			_ []*shim.Job) []error {
			return []error{end(ctx, pool, breaks)}
		}}
	},
	"a given transaction": func(_ *pgxpool.Pool, breaks func() bool) shim.Task {
		return shim.Task{Tx: func(ctx context.Context, tx pgx.Tx, _ *shim.Job) error { return end(ctx, tx, breaks) }}
	},
	"a given transaction, hidden": func(_ *pgxpool.Pool, breaks func() bool) shim.Task {
		return shim.Task{Tx: func(ctx context.Context, tx pgx.Tx, _ *shim.Job) error {
			_ = end(ctx, tx, breaks)
			return nil
		}}
	},
	"a transaction of many": func(_ *pgxpool.Pool, breaks func() bool) shim.Task {
		return shim.Task{Most: 2, ManyTx: func(ctx context.Context, tx pgx.Tx, _ []*shim.Job) error {
			return end(ctx,
				tx, breaks)
		}}
	},
}

type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// end ends the session of a connection if it breaks.
func end(ctx context.Context, db execer, breaks func() bool) error {
	sql := "select 1"
	if breaks() {
		sql = endSession
	}
	_, err := db.Exec(ctx, sql)
	return err
}

func TestALostConnectionCostsTheJobNoAttempt(t *testing.T) {
	for name, task := range endings {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.addOnce()
			pool := pgtest.Pool(t, q.url)
			w := q.workerOn(pool, shim.Config{Concurrency: 1})
			events := record(w)
			calls := 0
			made := task(pool, func() bool { calls++; return calls < 4 })
			made.Name = "task"
			if err := w.SetTasks(made); err != nil {
				t.Fatal(err)
			}
			runOnce(t, w)
			if calls != 4 || q.jobs() != 0 {
				t.Errorf("the handler was called %d times, %d jobs are left", calls, q.jobs())
			}
			all := events()
			returned, interrupted := 0, len(only[shim.JobInterrupted](all))
			for _, reported := range only[shim.JobReported](all) {
				if reported.Outcome == shim.OutcomeReturned && reported.Started && reported.Err != nil {
					returned++
				}
			}
			if returned != 3 || interrupted != 3 {
				t.Errorf("the job was reported as returned %d times, and as interrupted %d times, want 3", returned,
					interrupted)
			}
			w.logs.await(t, "WARN connection lost, job returned", "error=")
		})
	}
}

func TestAJobThatAlwaysLosesItsConnectionFails(t *testing.T) {
	for _, name := range []string{"the pool", "a given transaction", "a transaction of many"} {
		task := endings[name]
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.addOnce()
			pool := pgtest.Pool(t, q.url)
			w := q.workerOn(pool, shim.Config{Concurrency: 1})
			calls := 0
			made := task(pool, func() bool { calls++; return true })
			made.Name = "task"
			if err := w.SetTasks(made); err != nil {
				t.Fatal(err)
			}
			runOnce(t, w)
			if failed := value[int](q, `select count(*) from graphile_worker.jobs where attempts = 1 and last_error <> ''`); calls != 10 || failed != 1 {
				t.Errorf("after %d calls %d jobs have failed, want one after 10", calls, failed)
			}
		})
	}
}

// What others lose is the handler's failure, and so is what the handler itself gives up.
func TestOtherErrorsOfConnectionsFailTheAttempt(t *testing.T) {
	q := newQueue(t)
	other := pgtest.Pool(t, q.url)
	within := func(ctx context.Context, call func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return call(ctx)
	}
	const sleep = `select pg_sleep(60)`
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, handle := range map[string]func(ctx context.Context, job *shim.Job) error{
		"end of a file": func(context.Context, *shim.Job) error { return io.ErrUnexpectedEOF },
		"a socket":      func(context.Context, *shim.Job) error { return &net.OpError{Op: "read", Err: io.EOF} },
		"another pool": func(ctx context.Context, _ *shim.Job) error {
			return end(ctx, other,
				func() bool { return true })
		},
		"another server": func(ctx context.Context, _ *shim.Job) error {
			return connectError(ctx,
				closed.Addr().String())
		},
		"a service": func(context.Context, *shim.Job) error { return getError(closed.Addr().String()) },
		"another after it": func(ctx context.Context, job *shim.Job) error {
			return errors.Join(query(ctx, job), io.ErrUnexpectedEOF)
		},
		"a limit of its time": func(ctx context.Context, job *shim.Job) error {
			return within(ctx, func(ctx context.Context) error { return execOn(ctx, job, sleep) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			q.addOnce()
			w := q.worker(shim.Config{Concurrency: 1})
			calls := 0
			w.Handle("task", func(ctx context.Context, job *shim.Job) error {
				calls++
				return handle(ctx, job)
			})
			runOnce(t, w)
			if failed := value[int](q, `select count(*) from graphile_worker.jobs where attempts = 1`); calls != 1 ||
				failed != 1 {
				t.Errorf("after %d calls %d jobs have failed, want one after one", calls, failed)
			}
		})
	}
}

func execOn(ctx context.Context, job *shim.Job, sql string) error {
	return job.WithConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

func query(ctx context.Context, job *shim.Job) error { return execOn(ctx, job, "select 1") }

func connectError(ctx context.Context, address string) error {
	_, err := pgx.Connect(ctx, "postgres://"+address+"/postgres?sslmode=disable")
	return err
}

func getError(address string) error {
	answer, err := http.Get("http://" + address)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

// The pool of the handlers cannot connect for a while, whereas the worker can.
func TestAConnectionThatCannotBeHadCostsNoAttempt(t *testing.T) {
	q := newQueue(t)
	config, err := pgxpool.ParseConfig(q.url)
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	config.BeforeConnect = func(_ context.Context, conn *pgx.ConnConfig) error {
		if conn.RuntimeParams["search_path"] == "" && refused.Add(1) <= 3 {
			return errors.New("no way through")
		}
		return nil
	}
	q.exec(`select graphile_worker.add_job(task, max_attempts => 1) from unnest('{tx,many,conn}'::text[]) as task`)
	w := q.workerOn(q.poolOf(config), shim.Config{Concurrency: 1})
	w.HandleTx("tx", func(ctx context.Context, tx pgx.Tx, _ *shim.Job) error {
		return end(ctx, tx, func() bool { return false })
	})
	w.HandleManyTx("many", 2, func(ctx context.Context, tx pgx.Tx, _ []*shim.Job) error {
		_ = end(ctx, tx, func() bool { return false })
		return nil
	})
	w.Handle("conn", query)
	runOnce(t, w)
	if left, n := q.jobs(), refused.Load(); left != 0 || n < 3 {
		t.Errorf("%d jobs are left, %d connections were refused", left, n)
	}
}

// A job that loses the connection of a transaction of several costs the others nothing, and runs alone from then on.
func TestAJobThatLosesTheConnectionOfOthersRunsAlone(t *testing.T) {
	q := newOrders(t)
	q.addOrders(someOrders, nil)
	q.exec(`update graphile_worker._private_jobs set max_attempts = 1`)
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{Concurrency: 1})
	var calls []int // for the bad one
	shim.HandleManyTx(w.Worker, "order", 10, func(ctx context.Context, tx pgx.Tx, orders []order, _ []*shim.Job) error {
		for _, o := range orders {
			sql := "insert into orders values ($1::integer)"
			if o.N == 200 {
				calls = append(calls, len(orders))
				if len(calls) < 5 {
					sql = "select pg_terminate_backend(pg_backend_pid()), $1::integer"
				}
			}
			if _, err := tx.Exec(ctx, sql, o.N); err != nil {
				return err
			}
		}
		return nil
	})
	runOnce(t, w)
	q.wantOrders(someOrders)
	q.wantLeft("")
	if want := []int{1, 1, 1, 1}; len(calls) != 5 || calls[0] == 1 || fmt.Sprint(calls[1:]) != fmt.Sprint(want) {
		t.Errorf("it ran in calls for %v jobs", calls)
	}
}
