package shim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/crontab"
)

// noon is when the time of most of these tests begins: half a minute after, so that its minute has passed.
var noon = time.Date(2026, 6, 16, 12, 0, 0, 0, time.UTC)

// patience is how long a test within the package waits for what must happen. It is long because it only matters when a
// test fails.
const patience = 2 * time.Minute

// manualClock is a time that a test sets while the loop waits for its next tick.
type manualClock struct {
	t     *testing.T
	at    chan time.Time     // holds the time
	waits chan time.Duration // for how long the loop waits
	wake  chan time.Time
}

func newManualClock(t *testing.T, at time.Time) *manualClock {
	c := &manualClock{t: t, at: make(chan time.Time, 1), waits: make(chan time.Duration, 1000),
		wake: make(chan time.Time)}
	c.at <- at
	return c
}

func (c *manualClock) now() *time.Time {
	at := <-c.at
	c.at <- at
	return &at
}

func (c *manualClock) after(d time.Duration) <-chan time.Time {
	c.waits <- d
	return c.wake
}

// asleep waits until the loop waits, and returns the duration of the wait.
func (c *manualClock) asleep() time.Duration {
	c.t.Helper()
	select {
	case d := <-c.waits:
		return d
	case <-time.After(patience):
		c.t.Fatal("the loop does not come to wait")
		panic("unreachable")
	}
}

func (c *manualClock) set(at time.Time) {
	<-c.at
	c.at <- at
}

// wakeAt wakes the loop, which waits, at a time, and returns for how long it waits again.
func (c *manualClock) wakeAt(at time.Time) time.Duration {
	c.t.Helper()
	c.rouseAt(at)
	return c.asleep()
}

// rouseAt wakes the loop and does not wait until it waits again.
func (c *manualClock) rouseAt(at time.Time) {
	c.t.Helper()
	c.set(at)
	select {
	case c.wake <- at:
	case <-time.After(patience):
		c.t.Fatal("the loop does not wait")
	}
}

// ticking is a worker whose cron runs by a clock that the test sets.
type ticking struct {
	*Worker
	t     *testing.T
	pool  *pgxpool.Pool
	clock *manualClock
	logs  *strings.Builder
	sub   *Subscription
	ended chan error
}

// newTicking makes a worker in a database of its own, where the time is half a minute past noon.
func newTicking(t *testing.T, sources ...crontab.Source) *ticking {
	t.Helper()
	t.Parallel()
	return newTickingOn(t, pgtest.Pool(t, pgtest.Database(t)), noon.Add(30*time.Second), sources...)
}

func newTickingOn(t *testing.T, pool *pgxpool.Pool, at time.Time, sources ...crontab.Source) *ticking {
	t.Helper()
	w := &ticking{t: t, pool: pool, clock: newManualClock(t, at), logs: &strings.Builder{}, ended: make(chan error, 1)}
	var err error
	w.Worker, err = New(pool, Config{
		Cron: sources, PollInterval: time.Hour, PollOnly: true, Logger: slog.New(slog.NewTextHandler(w.logs, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cronClock = cronClock{now: w.clock.now, after: w.clock.after}
	w.Handle("unused", func(context.Context, *Job) error { return nil })
	w.sub = w.Subscribe(10000)
	t.Cleanup(w.sub.Close)
	return w
}

// start runs the worker until the test ends at the latest.
func (w *ticking) start() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.ended <- w.Run(context.Background())
	}()
	w.t.Cleanup(func() {
		w.Kill()
		<-done
	})
}

// stop stops the worker, and returns what it has logged.
func (w *ticking) stop() string {
	w.t.Helper()
	if err := w.Stop(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.logs.String()
}

// wantRuns compares the runs that there are jobs for: their tasks with the minutes after noon.
func (w *ticking) wantRuns(want ...string) {
	w.t.Helper()
	got := pgtest.Value[[]string](w.t, w.pool, `
		select array(select j.task_identifier || ' ' || extract(epoch from j.run_at - $1)::int / 60
		               from graphile_worker.jobs as j
		              order by j.task_identifier, j.run_at)`, noon)
	if !slices.Equal(got, want) {
		w.t.Errorf("there are the runs %q, want %q", got, want)
	}
}

// await reads events until one is of type E.
func await[E Event](w *ticking) E {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case event := <-w.sub.Events():
			if e, ok := event.(E); ok {
				return e
			}
		case <-deadline:
			w.t.Fatalf("there is no %T", *new(E))
		}
	}
}

func (w *ticking) exec(sql string, args ...any) {
	w.t.Helper()
	pgtest.Exec(w.t, w.pool, sql, args...)
}

// everyMinute is the crontab of tasks that run every minute.
func everyMinute(tasks ...string) crontab.Text {
	var text strings.Builder
	for _, task := range tasks {
		fmt.Fprintf(&text, "* * * * * %s\n", task)
	}
	return crontab.Text(text.String())
}
