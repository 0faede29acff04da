package shim_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// patience is how long a test waits for what must happen. It is long because it only matters when a test fails.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if !shim.RunAsCronProcess() {
		pgtest.Main(m)
	}
}

// queue is a database of the test's own.
type queue struct {
	t    *testing.T
	pool *pgxpool.Pool // the test's; workers get others
	url  string
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	t.Parallel()
	return queueAt(t, pgtest.Database(t))
}

// newQueueOn returns a queue on a server of the test's own. The tests' shared server has transactions of other tests,
// and a worker that falls asleep asks whether those that are in flight have ended.
func newQueueOn(t *testing.T, server *pgtemp.Server) *queue {
	t.Helper()
	t.Parallel()
	return queueAt(t, pgtest.DatabaseOn(t, server.URL("postgres")))
}

func queueAt(t *testing.T, url string) *queue {
	t.Helper()
	return &queue{t: t, url: url, pool: pgtest.Pool(t, url)}
}

func (q *queue) exec(sql string, args ...any) {
	q.t.Helper()
	pgtest.Exec(q.t, q.pool, sql, args...)
}

// value returns the only column of the only row.
func value[T any](q *queue, sql string, args ...any) T {
	q.t.Helper()
	return pgtest.Value[T](q.t, q.pool, sql, args...)
}

// await waits until a query that returns one boolean says true.
func (q *queue) await(sql string, args ...any) {
	q.t.Helper()
	pgtest.Await(q.t, q.pool, sql, args...)
}

// add adds n jobs of a task and returns the id of the last.
func (q *queue) add(task string, n int) int64 {
	q.t.Helper()
	return value[int64](q, `
		select max((graphile_worker.add_job($1, json_build_object('n', n))).id) from generate_series(1, $2::integer) as n`, task, n)
}

func (q *queue) jobs() int {
	q.t.Helper()
	return value[int](q, `select count(*) from graphile_worker.jobs`)
}

// awaitListening waits until a connection listens that the server has not listed in except; it returns its process id.
func (q *queue) awaitListening(except ...int32) int32 {
	q.t.Helper()
	const listening = `from pg_stat_activity
		where datname = current_database() and query like 'listen %' and state = 'idle' and pid <> all ($1::integer[])`
	if except == nil {
		except = []int32{}
	}
	q.await(`select exists (select `+listening+`)`, except)
	return value[int32](q, `select pid `+listening, except)
}

// worker is a worker under test and what came of it.
type worker struct {
	*shim.Worker
	t    *testing.T
	logs *logs
	done chan struct{}
	err  error // of Run, once done is closed
}

// poolOf opens a pool by a changed copy of the configuration of q.pool, until the test ends.
func (q *queue) poolOf(config *pgxpool.Config) *pgxpool.Pool {
	q.t.Helper()
	pool, err := pgxpool.NewWithConfig(q.t.Context(), config)
	if err != nil {
		q.t.Fatal(err)
	}
	q.t.Cleanup(pool.Close)
	return pool
}

// worker creates a worker on a pool of its own that polls only once an hour, so that everything it does promptly is
// caused by a notification or a known due time.
func (q *queue) worker(cfg shim.Config) *worker {
	q.t.Helper()
	return q.workerOn(pgtest.Pool(q.t, q.url), cfg)
}

// workerOn makes the same on a given pool.
func (q *queue) workerOn(pool *pgxpool.Pool, cfg shim.Config) *worker {
	q.t.Helper()
	lines := &logs{changed: make(chan struct{})}
	cfg.Logger = slog.New(lines)
	if cfg.PollInterval == 0 {
		cfg.PollInterval = time.Hour
	}
	w, err := shim.New(pool, cfg)
	if err != nil {
		q.t.Fatal(err)
	}
	q.t.Cleanup(func() {
		if found, _ := lines.find(); q.t.Failed() {
			q.t.Logf("the worker's last lines:\n%s", strings.Join(found[max(0, len(found)-30):], "\n"))
		}
	})
	return &worker{Worker: w, t: q.t, logs: lines, done: make(chan struct{})}
}

// start runs the worker until the test ends at the latest.
func (w *worker) start() *worker {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(w.done)
		w.err = w.Run(ctx)
	}()
	w.t.Cleanup(func() {
		w.Kill()
		cancel()
		<-w.done
	})
	return w
}

// wait waits until Run has returned and returns its error.
func (w *worker) wait() error {
	w.t.Helper()
	receive(w.t, w.done)
	return w.err
}

// stop stops the worker and expects that it ended without an error.
func (w *worker) stop() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := errors.Join(w.Stop(ctx), w.wait()); err != nil {
		w.t.Fatalf("stop: %v", err)
	}
}

// receive waits for a value, or for the channel to be closed.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// logs is a slog.Handler that keeps lines for a test to wait for.
type logs struct {
	mu      sync.Mutex
	lines   []string
	changed chan struct{} // closed and replaced with each line
}

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }

func (l *logs) Handle(_ context.Context, record slog.Record) error {
	return l.add(record, nil)
}

func (l *logs) add(record slog.Record, attrs []slog.Attr) error {
	line := []string{record.Level.String(), record.Message}
	for _, attr := range attrs {
		line = append(line, attr.String())
	}
	record.Attrs(func(attr slog.Attr) bool {
		line = append(line, attr.String())
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.Join(line, " "))
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

func (l *logs) WithAttrs(attrs []slog.Attr) slog.Handler { return &scopedLogs{l, attrs} }
func (l *logs) WithGroup(string) slog.Handler            { return l }

type scopedLogs struct {
	*logs
	attrs []slog.Attr
}

func (s *scopedLogs) Handle(_ context.Context, record slog.Record) error {
	return s.add(record, s.attrs)
}

func (s *scopedLogs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &scopedLogs{s.logs, slices.Concat(s.attrs, attrs)}
}

// find returns the lines that contain all of parts.
func (l *logs) find(parts ...string) (found []string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			found = append(found, line)
		}
	}
	return found, l.changed
}

// await waits for a line that contains all of parts and returns the first.
func (l *logs) await(t *testing.T, parts ...string) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		found, changed := l.find(parts...)
		if len(found) > 0 {
			return found[0]
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no log line with %q among:\n%s", parts, strings.Join(l.lines, "\n"))
		}
	}
}
