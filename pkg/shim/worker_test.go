package shim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

func TestRunOnceLeavesWhenNothingIsRunnable(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Concurrency: 3})
	w.Handle("parent", func(ctx context.Context, _ *shim.Job) error {
		_, err := q.pool.Exec(ctx, `select graphile_worker.add_job('child', queue_name => 'nursery')`)
		return err
	})
	w.Handle("child", func(context.Context, *shim.Job) error { return nil })
	for range 2 {
		q.add("parent", 5)
		q.exec(`select graphile_worker.add_job('child', job_key => 'later', run_at => now() + interval '1 hour')`)
		if err := w.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := q.jobs(); n != 1 {
			t.Errorf("%d jobs are left, want the one that is not due", n)
		}
	}
}

func TestAStopReturnsWhatHasNotStarted(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	const total, blocking = 300, 150
	blocked, release := make(chan int), make(chan struct{})
	ran := 0
	w.Handle("short", func(_ context.Context, job *shim.Job) error {
		ran++
		if ran == blocking {
			blocked <- ran
			<-release
		}
		return nil
	})
	q.add("short", total)
	w.start()
	receive(t, blocked)
	// Short jobs are claimed ahead, so that there is something to return.
	q.await(`select count(*) = $1::integer from graphile_worker.jobs`, total-blocking+1)
	if n := value[int](q, `select count(*) from graphile_worker.jobs where locked_at is not null`); n < 2 {
		t.Fatalf("the worker holds %d jobs, nothing would be returned", n)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop, called by somebody who cannot wait, returned %v", err)
	}
	q.await(`select count(*) = 1 from graphile_worker.jobs where locked_at is not null`)
	close(release)
	w.stop()
	if n := value[int](q, `select count(*) from graphile_worker.jobs where attempts = 0 and locked_at is null`); n != total-blocking {
		t.Errorf("%d jobs are left as they were, want %d", n, total-blocking)
	}
	w.logs.await(t, "jobs that had not started returned to the queue")
}

func TestJobsStuckBehindALongHandlerAreReturnedForOthers(t *testing.T) {
	q := newQueue(t)
	const total, blocking = 300, 150
	blocked := make(chan struct{})
	first := q.worker(shim.Config{})
	ran := 0
	first.Handle("short", func(ctx context.Context, _ *shim.Job) error {
		ran++
		if ran == blocking {
			close(blocked)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	q.add("short", total)
	first.start()
	receive(t, blocked)

	second := q.worker(shim.Config{})
	second.Handle("short", func(context.Context, *shim.Job) error { return nil })
	second.start()
	q.await(`select count(*) = 1 from graphile_worker.jobs`)
	first.Kill()
	if err := first.wait(); !errors.Is(err, shim.ErrInterrupted) {
		t.Errorf("Run returned %v", err)
	}
	q.await(`select not exists (select from graphile_worker.jobs)`)
	second.stop()
}

func TestWhenGraceIsOverRunningJobsAreInterruptedAndReturned(t *testing.T) {
	for name, end := range map[string]struct {
		grace time.Duration
		by    func(*worker)
	}{
		"by itself": {-1, func(w *worker) { _ = w.Stop(t.Context()) }},
		"by Kill":   {time.Hour, func(w *worker) { w.Kill() }},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{Grace: end.grace})
			running := make(chan struct{})
			var cause error
			w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
				close(running)
				<-ctx.Done()
				cause = context.Cause(ctx)
				return ctx.Err()
			})
			q.add("long", 1)
			w.start()
			receive(t, running)
			end.by(w)
			if err := w.wait(); !errors.Is(err, shim.ErrInterrupted) {
				t.Errorf("Run returned %v", err)
			}
			if cause != shim.ErrShutdown {
				t.Errorf("the cause was %v", cause)
			}
			if !value[bool](q, `select attempts = 0 and locked_at is null and last_error is null from graphile_worker.jobs`) {
				t.Error("the job was not returned as it had been")
			}
			w.logs.await(t, "WARN job interrupted and returned")
		})
	}
}

func TestAJobThatEndsWellThoughInterruptedIsCompleted(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{Grace: -1})
	running := make(chan struct{})
	w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
		close(running)
		<-ctx.Done()
		return nil
	})
	q.add("long", 1)
	w.start()
	receive(t, running)
	w.stop()
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestDuringGraceRunningJobsFinishUndisturbed(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	running, release := make(chan struct{}), make(chan struct{})
	w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
		close(running)
		<-release
		return ctx.Err()
	})
	q.add("long", 1)
	w.start()
	receive(t, running)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = w.Stop(ctx)
	w.logs.await(t, "INFO worker is stopping")
	close(release)
	w.stop()
	if n := q.jobs(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestAWorkerToldToStopBeforeItRunsLeavesAtOnce(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	w.Handle("task", func(context.Context, *shim.Job) error { return errors.New("ran") })
	q.add("task", 1)
	if err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.start()
	if err := w.wait(); err != nil {
		t.Fatal(err)
	}
	if !value[bool](q, `select attempts = 0 from graphile_worker.jobs`) {
		t.Error("it worked a job")
	}
}

func TestAWorkerSaysWhatItCannotStartWith(t *testing.T) {
	q := newQueue(t)
	empty := pgtest.Pool(t, pgtest.EmptyDatabase(t))
	task := func(context.Context, *shim.Job) error { return nil }
	for _, c := range []struct {
		name string
		err  func() error
		want string
	}{
		{"no pool", func() error { _, err := shim.New(nil, shim.Config{}); return err }, "no pool"},
		{"negative numbers", func() error {
			_, err := shim.New(q.pool, shim.Config{Concurrency: -2, PollInterval: -time.Second})
			return err
		}, "make worker: concurrency is -2, must be at least 1\npoll interval is -1s, must be positive"},
		{"a huge concurrency", func() error {
			_, err := shim.New(q.pool, shim.Config{Concurrency: 1 << 30})
			return err
		}, "make worker: concurrency is 1073741824, must be at most 100000"},
		{"a long id", func() error {
			_, err := shim.New(q.pool, shim.Config{WorkerID: strings.Repeat("ü", 129)})
			return err
		}, "worker id has 129 characters"},
		{"a contradiction", func() error {
			_, err := shim.New(q.pool, shim.Config{PollOnly: true, ListenConfig: &pgx.ConnConfig{}})
			return err
		}, "exclude each other"},
		{"no handler", func() error { return q.worker(shim.Config{}).Run(t.Context()) }, "no handler is registered"},
		{"wrong handlers", func() error {
			w := q.worker(shim.Config{})
			w.Handle("", task)
			w.Handle("a", nil)
			w.Handle("b", task)
			shim.Handle(w.Worker, "b", func(context.Context, int, *shim.Job) error { return nil })
			return w.Run(t.Context())
		}, "a handler has an empty task name\nthe handler of task \"a\" is nil\ntask \"b\" has two handlers"},
		{"no schema", func() error {
			w, err := shim.New(empty, shim.Config{Schema: "none"})
			if err != nil {
				return err
			}
			w.Handle("a", task)
			return w.Run(t.Context())
		}, `schema "none" is not installed, run gw-migrate first`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want it to contain %q", err, c.want)
			}
		})
	}
}

func TestAWorkerRunsOnlyOnceAtATime(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	running := make(chan struct{})
	w.Handle("long", func(ctx context.Context, _ *shim.Job) error {
		close(running)
		<-ctx.Done()
		return nil
	})
	q.add("long", 1)
	w.start()
	receive(t, running)
	if err := w.RunOnce(t.Context()); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("error is %v", err)
	}
}
