// Package pgbouncer works jobs through a real PgBouncer in transaction mode.
package pgbouncer

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/pgtest/pgbouncer"
	"github.com/gwsql/gw/pkg/shim"
)

const patience = 2 * time.Minute

func TestMain(m *testing.M) { pgtest.Main(m) }

// setup is a database with a PgBouncer before it.
type setup struct {
	direct *pgxpool.Pool
	server *pgx.ConnConfig
	pooler string // its URL, without the name of a pool
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	url := pgtest.Database(t)
	direct := pgtest.Pool(t, url)
	return &setup{direct: direct, server: direct.Config().ConnConfig, pooler: pgbouncer.Start(t, url)}
}

// worker makes a worker whose connections go through one of PgBouncer's pools. parameters are added to the URL.
func (s *setup) worker(t *testing.T, pool, parameters string, cfg shim.Config) *shim.Worker {
	t.Helper()
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	w, err := shim.New(pgtest.Pool(t, s.pooler+"/"+pool+"?sslmode=disable"+parameters), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// start runs a worker until the test ends, and expects that nothing goes wrong.
func start(t *testing.T, w *shim.Worker) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := w.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

var modes = []string{"cache_describe", "exec", "simple_protocol"}

func TestAWorkerWorksThroughATransactionPooler(t *testing.T) {
	s := newSetup(t)
	const total = 500
	for _, pool := range []string{"transaction", "single"} {
		for _, mode := range modes {
			t.Run(pool+" "+mode, func(t *testing.T) {
				pgtest.Exec(t, s.direct, `
					select graphile_worker.add_job(case n % 3 when 0 then 'fail' else 'work' end, '{"a": [1]}',
					                               case when n % 5 = 0 then 'q' || n % 2 end, max_attempts => 1)
					  from generate_series(1, $1::integer) as n`, total)
				// Two of them, so that the pooler has something to mix up.
				var workers sync.WaitGroup
				for range 2 {
					w := s.worker(t, pool, "&default_query_exec_mode="+mode,
						shim.Config{Concurrency: 5, QuietSuccess: true})
					w.Handle("work", func(context.Context, *shim.Job) error { return nil })
					w.Handle("fail", func(context.Context, *shim.Job) error { return shim.Discard(nil) })
					workers.Go(func() {
						if err := w.RunOnce(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				workers.Wait()
				const asExpected = `select count(*) = $1::integer and bool_and(task_identifier = 'fail' and last_error = 'discarded')
					from graphile_worker.jobs where attempts = max_attempts and locked_at is null`
				if !pgtest.Value[bool](t, s.direct, asExpected, total/3) {
					t.Error("left are other jobs than those that failed")
				}
				pgtest.Exec(t, s.direct, `truncate graphile_worker._private_jobs`)
			})
		}
	}
}

func TestHandlersAreGivenTransactionsThroughATransactionPooler(t *testing.T) {
	s := newSetup(t)
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			const total = 1000
			pgtest.Exec(t, s.direct, `create table written (n integer, transaction text default txid_current()::text)`)
			pgtest.Exec(t, s.direct, `
				select graphile_worker.add_job(case when n > $1::integer / 2 then 'write' else 'write many' end, to_json(n))
				  from generate_series(1, $1::integer) as n`, total)
			w := s.worker(t, "transaction", "&default_query_exec_mode="+mode,
				shim.Config{Concurrency: 2, QuietSuccess: true})
			write := func(ctx context.Context, tx pgx.Tx, n int) error {
				if _, err := tx.Exec(ctx, `insert into written values ($1::integer)`, n); err != nil || n != total/2 {
					return err
				}
				return shim.Discard(nil)
			}
			shim.HandleTx(w, "write", func(ctx context.Context, tx pgx.Tx, n int, _ *shim.Job) error {
				return write(ctx,
					tx, n)
			})
			shim.HandleManyTx(w, "write many", 20, func(ctx context.Context, tx pgx.Tx, numbers []int,
				_ []*shim.Job) error {
				for _, n := range numbers {
					if err := write(ctx, tx, n); err != nil {
						return err
					}
				}
				return nil
			})
			if err := w.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := pgtest.Value[string](t, s.direct, `
				select format('%s rows, %s numbers, %s left, %s', count(*), count(distinct n), (select count(*) from graphile_worker.jobs),
				              case when count(distinct transaction) < count(*) then 'shared' end) from written`)
			if want := "999 rows, 999 numbers, 1 left, shared"; got != want {
				t.Errorf("there are %s, want %s", got, want)
			}
			pgtest.Exec(t, s.direct, `truncate graphile_worker._private_jobs; drop table written`)
		})
	}
}

func TestWithAListenConfigJobsAreToldOfAroundThePooler(t *testing.T) {
	s := newSetup(t)
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			started := make(chan int64, 1)
			w := s.worker(t, "transaction", "&default_query_exec_mode="+mode,
				shim.Config{PollInterval: time.Hour, ListenConfig: s.server})
			w.Handle("ping", func(_ context.Context, job *shim.Job) error {
				started <- job.ID
				return nil
			})
			start(t, w)
			expectPings(t, s, started)
		})
	}
}

func TestWithPollOnlyJobsAreFoundThroughThePooler(t *testing.T) {
	s := newSetup(t)
	started := make(chan int64, 1)
	w := s.worker(t, "transaction", "&default_query_exec_mode=exec", shim.Config{PollInterval: 20 * time.Millisecond,
		PollOnly: true})
	w.Handle("ping", func(_ context.Context, job *shim.Job) error {
		started <- job.ID
		return nil
	})
	start(t, w)
	expectPings(t, s, started)
}

func TestInSessionModeTheDefaultsWork(t *testing.T) {
	s := newSetup(t)
	started := make(chan int64, 1)
	w := s.worker(t, "session", "", shim.Config{PollInterval: time.Hour})
	w.Handle("ping", func(_ context.Context, job *shim.Job) error {
		started <- job.ID
		return nil
	})
	start(t, w)
	expectPings(t, s, started)
}

func expectPings(t *testing.T, s *setup, started <-chan int64) {
	t.Helper()
	for range 3 {
		id := pgtest.Value[int64](t, s.direct, `select (graphile_worker.add_job('ping')).id`)
		select {
		case got := <-started:
			if got != id {
				t.Errorf("job %d started, want %d", got, id)
			}
		case <-time.After(patience):
			t.Fatal("the job did not start")
		}
		pgtest.Await(t, s.direct, `select not exists (select from graphile_worker.jobs)`)
	}
}

func TestWhatCannotWorkIsRefusedAtTheStartAndTheErrorSaysWhatToSet(t *testing.T) {
	s := newSetup(t)
	for _, c := range []struct {
		name, pool, parameters string
		cfg                    shim.Config
		message                string
	}{
		{"prepared statements", "transaction", "", shim.Config{PollOnly: true},
			"default_query_exec_mode=cache_describe"},
		{"prepared statements over one connection", "single", "", shim.Config{ListenConfig: s.server},
			"QueryExecModeCacheDescribe"},
		{"described statements", "transaction", "&default_query_exec_mode=describe_exec", shim.Config{PollOnly: true},
			"default_query_exec_mode"},
		{"LISTEN", "transaction", "&default_query_exec_mode=exec", shim.Config{},
			"set ListenConfig to the server's own address (--listen-url of gw-run), or PollOnly (--no-listen)"},
		{"a setting", "transaction", "&statement_timeout=1000", shim.Config{PollOnly: true},
			"ignore_startup_parameters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := s.worker(t, c.pool, c.parameters, c.cfg)
			w.Handle("ping", func(context.Context, *shim.Job) error { return nil })
			err := w.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), "start worker") ||
				!strings.Contains(err.Error(), c.message) {
				t.Errorf("Run returned %v", err)
			}
			if pgtest.Value[bool](t, s.direct, `select exists (select from graphile_worker._gw_workers)`) {
				t.Error("the worker is registered")
			}
		})
	}
}
