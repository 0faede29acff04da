package shim_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
)

func TestMiddlewareIsAroundEveryHandlerInOrder(t *testing.T) {
	q := newQueue(t)
	var trace []string
	tracing := func(name string) shim.Middleware {
		return func(next shim.Handler) shim.Handler {
			return func(ctx context.Context, job *shim.Job) error {
				trace = append(trace, name+" "+job.TaskIdentifier)
				err := next(ctx, job)
				trace = append(trace, name+" "+string(shim.OutcomeOf(job, err)))
				return err
			}
		}
	}
	w := q.worker(shim.Config{Middleware: []shim.Middleware{tracing("outer"), tracing("inner")}})
	w.Handle("raw", func(context.Context, *shim.Job) error { return nil })
	shim.Handle(w.Worker, "typed", func(context.Context, int, *shim.Job) error { return nil })
	q.exec(`select graphile_worker.add_job('raw'), graphile_worker.add_job('typed', '{}')`)
	runOnce(t, w)
	want := []string{
		"outer raw", "inner raw", "inner completed", "outer completed",
		"outer typed", "inner typed", "inner failed", "outer failed", // by its payload, which is no number
	}
	if !slices.Equal(trace, want) {
		t.Errorf("trace is\n%q, want\n%q", trace, want)
	}
}

func TestMiddlewareMayChangeTheErrorAndPanic(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Middleware: []shim.Middleware{func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) error {
			if job.Key == "spill" {
				panic("spilled")
			}
			return shim.Discard(next(ctx, job))
		}
	}}})
	w.Handle("task", func(context.Context, *shim.Job) error { return errors.New("no such host") })
	q.exec(`select graphile_worker.add_job('task', job_key => 'spill'), graphile_worker.add_job('task', job_key => 'fail')`)
	runOnce(t, w)
	const lastError = `select last_error from graphile_worker.jobs where key = $1`
	if got := value[string](q, lastError, "spill"); !strings.HasPrefix(got, "panic: spilled\n") {
		t.Errorf("last error is %q", got)
	}
	if got := value[string](q, lastError+` and attempts = max_attempts`, "fail"); got != "no such host" {
		t.Errorf("last error is %q", got)
	}
}

func TestMiddlewareThatCannotBeIsSaid(t *testing.T) {
	q := newQueue(t)
	if _, err := shim.New(q.pool, shim.Config{Middleware: []shim.Middleware{nil}}); err == nil ||
		!strings.Contains(err.Error(), "a middleware is nil") {
		t.Errorf("error is %v", err)
	}
	w := q.worker(shim.Config{Middleware: []shim.Middleware{func(shim.Handler) shim.Handler { return nil }}})
	w.Handle("task", func(context.Context, *shim.Job) error { return nil })
	if err := w.Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), `task "task": a middleware returned no handler`) {
		t.Errorf("error is %v", err)
	}
}
