package baddays

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
)

var clockFlag = flag.Bool("baddays.clock", false,
	"have the workers whose clock jumps work for a minute, with a recurring job")

// Times of a worker's own clock are never sent to the database, so the clock may be wrong by hours: it only measures durations.
func TestNothingThatAWorkerSendsIsATimeOfItsOwn(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	url := pgtest.Database(t)
	admin := pgtest.Pool(t, url)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	seen := &arguments{t: t}
	config.ConnConfig.Tracer = seen
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	pgtest.Exec(t, admin, `select graphile_worker.set_setting('beat_every', '100 milliseconds'), graphile_worker.set_setting('notify', 'idle')`)
	w, err := shim.New(pool, shim.Config{
		Logger: slog.New(slog.DiscardHandler), Cron: []crontab.Source{crontab.Text("* * * * * good ?fill=1h")},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Handle("good", func(context.Context, *shim.Job) error { return nil })
	w.Handle("bad", func(context.Context, *shim.Job) error { return errors.New("bad") })
	w.Handle("snooze", func(context.Context, *shim.Job) error { return shim.Snooze(time.Hour) })
	w.Handle("later", func(context.Context, *shim.Job) error { return shim.RetryIn(time.Hour, errors.New("later")) })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	pgtest.Exec(t, admin, `select graphile_worker.add_job(name, queue_name => q) from unnest(array['good', 'bad', 'snooze', 'later']) as name, unnest(array[null, 'q']) as q`)
	pgtest.Await(t, admin, `select count(*) = 6 and bool_and(run_at > now()) from graphile_worker.jobs`)
	seen.await("heartbeat", "stale_sweep", "run_cron", "get_job_batch", "_gw_complete_claim", "fail_job_batch",
		"return_job_batch", "register_worker")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	seen.await("deregister_worker")
}

// arguments is a tracer that checks all arguments of statements.
type arguments struct {
	t     *testing.T
	mu    sync.Mutex
	calls []string
}

// timestamp matches a time in a text, in JSON or not.
var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:`)

func (a *arguments) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, q.SQL)
	for _, arg := range q.Args {
		switch arg := arg.(type) {
		case time.Time:
			a.t.Errorf("%v is sent by %s", arg, q.SQL)
		case *time.Time: // cron passes the minute that the database returned as handled
			if arg != nil && (!arg.Equal(arg.Truncate(time.Minute)) || !strings.Contains(q.SQL, ".run_cron(")) {
				a.t.Errorf("%v is sent by %s", arg, q.SQL)
			}
		case string:
			if timestamp.MatchString(arg) {
				a.t.Errorf("%s is sent by %s", arg, q.SQL)
			}
		}
	}
	return ctx
}

func (*arguments) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// await waits until these functions have been called.
func (a *arguments) await(functions ...string) {
	a.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		missing := ""
		a.mu.Lock()
		for _, function := range functions {
			found := false
			for _, sql := range a.calls {
				found = found || regexp.MustCompile(`\.`+function+`\(`).MatchString(sql)
			}
			if !found {
				missing = function
			}
		}
		a.mu.Unlock()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("%s was not called", missing)
		}
	}
}
