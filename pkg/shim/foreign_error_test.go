package shim_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// foreign is an error of which every method fails.
type foreign struct{ fail func() }

func (f *foreign) Error() string   { f.fail(); return "" }
func (f *foreign) String() string  { f.fail(); return "" }
func (f *foreign) Is(error) bool   { f.fail(); return true }
func (f *foreign) As(any) bool     { f.fail(); return true }
func (f *foreign) Unwrap() error   { f.fail(); return nil }
func (f *foreign) Timeout() bool   { f.fail(); return true }
func (f *foreign) Temporary() bool { f.fail(); return true }

// foreignErrors are errors whose methods do not return, with why.
func foreignErrors() map[string]struct {
	err  error
	says string
} {
	return map[string]struct {
		err  error
		says string
	}{
		"nil":    {(*foreign)(nil), "runtime error: invalid memory address or nil pointer dereference"},
		"panics": {&foreign{func() { panic("boom") }}, "boom"},
		"exits":  {&foreign{runtime.Goexit}, "it ended its goroutine"},
		// The values of these panics cannot be printed either.
		"again": {&foreign{func() { panic(&foreign{func() { panic("again") }}) }}, "%!v(PANIC=Error method: again)"},
		"for ever": {&foreign{func() { panic(&foreign{func() { panic(&foreign{func() { panic("again") }}) }}) }},
			"a value of type *shim_test.foreign, which cannot be printed"},
	}
}

// entries register a handler in all the ways in which an error may come to the worker.
var entries = map[string]func(w *shim.Worker, task string, err error){
	"Handle": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return err })
	},
	"Typed": func(w *shim.Worker, task string, err error) {
		shim.Handle(w, task, func(context.Context, any, *shim.Job) error { return err })
	},
	"panic": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { panic(err) })
	},
	"Backoff": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return err },
			shim.Backoff(func(int) time.Duration { panic(err) }))
	},
	"Backoff that exits": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return err },
			shim.Backoff(func(int) time.Duration { runtime.Goexit(); return 0 }))
	},
	"Discard": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return shim.Discard(err) })
	},
	"RetryIn": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return shim.RetryIn(time.Hour, err) })
	},
	"Batch": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return shim.Batch([]error{nil, err}) })
	},
	"Join": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(context.Context, *shim.Job) error { return errors.Join(errors.New("sound"), err) })
	},
	"HandleEach": func(w *shim.Worker, task string, err error) {
		shim.HandleEach(w, task, func(context.Context, int, *shim.Job) error { return err })
	},
	"HandleMany": func(w *shim.Worker, task string, err error) {
		w.HandleMany(task, 10, func(context.Context, []*shim.Job) []error { return []error{err} })
	},
	"HandleTx": func(w *shim.Worker, task string, err error) {
		w.HandleTx(task, func(ctx context.Context, tx pgx.Tx, _ *shim.Job) error {
			_, _ = tx.Exec(ctx, `select 1`)
			return err
		})
	},
	"HandleTx that breaks": func(w *shim.Worker, task string, err error) {
		w.HandleTx(task, func(ctx context.Context, tx pgx.Tx, _ *shim.Job) error {
			_, _ = tx.Exec(ctx, `select 1/0`)
			return err
		})
	},
	"HandleManyTx": func(w *shim.Worker, task string, err error) {
		w.HandleManyTx(task, 10, func(ctx context.Context, tx pgx.Tx, _ []*shim.Job) error {
			_, _ = tx.Exec(ctx, `select 1`)
			return err
		})
	},
	"WithConn": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(ctx context.Context, job *shim.Job) error {
			return job.WithConn(ctx, func(*pgx.Conn) error { return err })
		})
	},
	"Step": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(ctx context.Context, job *shim.Job) error {
			_, err := shim.Step(ctx, job, "a", func(context.Context) (int, error) { return 0, err })
			return err
		})
	},
	"Completion": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(_ context.Context, job *shim.Job) error {
			completion, _ := shim.CompletionOf([]*shim.Job{job})
			completion.RolledBack(err)
			return err
		})
	},
	"CompleteTx rolled back": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(ctx context.Context, job *shim.Job) error {
			_ = job.WithConn(ctx, func(conn *pgx.Conn) error {
				tx, err := conn.Begin(ctx)
				if err == nil {
					err = errors.Join(job.CompleteTx(ctx, tx), tx.Rollback(ctx))
				}
				return err
			})
			return err
		})
	},
	"Timeout": func(w *shim.Worker, task string, err error) {
		w.Handle(task, func(ctx context.Context, _ *shim.Job) error { <-ctx.Done(); return err },
			shim.Timeout(time.Millisecond))
	},
}

func TestAnErrorWhoseMethodsFailOnlyFailsItsAttempt(t *testing.T) {
	q := newQueue(t)
	middle := func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) error {
			err := next(ctx, job)
			shim.OutcomeOf(job, err)
			return err
		}
	}
	w := q.worker(shim.Config{Concurrency: 2, Middleware: []shim.Middleware{middle}})
	shim.On(w.Worker, func(e shim.JobErrored) { _ = e.Err.Error() })
	want := make(map[string]string)
	for name, f := range foreignErrors() {
		for entry, register := range entries {
			task := entry + ": " + name
			register(w.Worker, task, f.err)
			want[task] = "the error of type *shim_test.foreign cannot be printed: " + f.says
			if entry == "panic" {
				want[task] = "panic: "
				if name == "exits" {
					want[task] = "handler ended its goroutine"
				}
			}
		}
	}
	w.Handle("sound", func(context.Context, *shim.Job) error { return nil })
	q.exec(`select graphile_worker.add_job(task, '[1, 2]', max_attempts => 3) from unnest($1::text[] || '{sound}'::text[]) as task`,
		slices.Collect(maps.Keys(want)))
	runOnce(t, w)

	for task, text := range want {
		attempts := 1
		if strings.HasPrefix(task, "Discard:") {
			attempts = 3
		}
		if got := value[string](q, `
			select format('%s attempts, free %s: %s', attempts, locked_at is null, last_error)
			  from graphile_worker.jobs where task_identifier = $1`, task); !strings.HasPrefix(got,
			fmt.Sprintf("%d attempts, free t: ", attempts)) ||
			!strings.Contains(got, text) {
			t.Errorf("%s: %.300s, want %s", task, got, text)
		}
	}
	if n := q.jobs(); n != len(want) {
		t.Errorf("%d jobs are left, want %d", n, len(want))
	}
}

func TestAnErrorWhoseMethodsFailDelaysOnlyClaims(t *testing.T) {
	for name, f := range foreignErrors() {
		for when, fail := range map[string]func() error{
			"returned": func() error { return f.err },
			"panic":    func() error { panic(f.err) },
			"exit":     func() error { runtime.Goexit(); return nil },
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				q := newQueue(t)
				calls := 0
				ask := func(context.Context) ([]string, error) {
					if calls++; calls < 2 {
						return nil, fail()
					}
					return nil, nil
				}
				w := q.worker(shim.Config{ForbiddenFlagsFunc: ask})
				w.Handle("task", func(context.Context, *shim.Job) error { return nil })
				q.add("task", 1)
				runOnce(t, w)
				if n := q.jobs(); n != 0 || calls < 2 {
					t.Errorf("%d jobs are left after %d calls", n, calls)
				}
			})
		}
	}
}

// foreignLog is a slog.Handler that panics in the method with this name.
type foreignLog struct{ in string }

func (f foreignLog) fail(where string) {
	if f.in == where {
		panic(where)
	}
}
func (f foreignLog) Enabled(context.Context, slog.Level) bool  { f.fail("Enabled"); return true }
func (f foreignLog) Handle(context.Context, slog.Record) error { f.fail("Handle"); return nil }
func (f foreignLog) WithAttrs([]slog.Attr) slog.Handler        { f.fail("WithAttrs"); return f }
func (f foreignLog) WithGroup(string) slog.Handler             { f.fail("WithGroup"); return f }

func TestAWorkerOutlivesTheHandlerOfItsLogs(t *testing.T) {
	for _, method := range []string{"Enabled", "Handle", "WithAttrs", "WithGroup"} {
		t.Run(method, func(t *testing.T) {
			q := newQueue(t)
			w, err := shim.New(q.pool, shim.Config{Logger: slog.New(foreignLog{method}), PollInterval: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			w.Handle("task", func(_ context.Context, job *shim.Job) error {
				job.Logger().WithGroup("g").Info("in the handler")
				return nil
			})
			w.Handle("fail", func(context.Context, *shim.Job) error { return errors.New("failed") })
			q.add("task", 3)
			q.add("fail", 1)
			if err := w.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := value[string](q, `select string_agg(task_identifier || ' ' || last_error, ', ') from graphile_worker.jobs`); got != "fail failed" {
				t.Errorf("left are %q", got)
			}
		})
	}
}

func TestANilPointerToAnErrorOfOursFailsItsAttempt(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var tasks []string
	for _, err := range []error{
		(*shim.SnoozeError)(nil), (*shim.RateLimitedError)(nil), (*shim.RetryError)(nil), (*shim.DiscardError)(nil),
		(*shim.BatchError)(nil),
		(*shim.TimeoutError)(nil), (*shim.RefusedError)(nil),
	} {
		w.Handle(fmt.Sprintf("%T", err), func(context.Context, *shim.Job) error { return err })
		w.Handle(fmt.Sprintf("wrapped %T", err),
			func(context.Context, *shim.Job) error { return fmt.Errorf("wrapped: %w", err) })
		tasks = append(tasks, fmt.Sprintf("%T", err), fmt.Sprintf("wrapped %T", err))
	}
	q.exec(`select graphile_worker.add_job(task, '[1]') from unnest($1::text[]) as task`, tasks)
	runOnce(t, w)
	if got := value[int](q, `select count(*) from graphile_worker.jobs where attempts > 0 and last_error <> '' and locked_at is null`); got != 14 {
		t.Errorf("%d jobs have failed, want 14", got)
	}
}
