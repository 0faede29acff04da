package baddays

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// patience is the maximum time that a test waits for a condition.
const patience = 2 * time.Minute

// fleet is a database, its workers, and the file of notes that their handlers write.
type fleet struct {
	t       *testing.T
	url     string
	pool    *pgxpool.Pool
	folder  string
	excused map[string]bool // workers that the test has killed or paused, by id
	paused  map[string]bool // those that it has paused: they go on with jobs that others have run meanwhile
}

func newFleet(t *testing.T, url string) *fleet {
	t.Helper()
	return &fleet{t: t, url: url, pool: pgtest.Pool(t, url), folder: t.TempDir(), excused: make(map[string]bool),
		paused: make(map[string]bool)}
}

// ownServer starts a server for this test only, on which commits survive a crash, and migrates its database.
func ownServer(t *testing.T, settings map[string]string) *pgtemp.Server {
	t.Helper()
	all := map[string]string{"synchronous_commit": "on"}
	for name, value := range settings {
		all[name] = value
	}
	server := pgtest.Server(t, all)
	config, err := pgx.ParseConfig(server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return server
}

func (f *fleet) exec(sql string, args ...any) {
	f.t.Helper()
	pgtest.Exec(f.t, f.pool, sql, args...)
}

// await waits until a query returns true. Errors of the database in the meantime are ignored.
func (f *fleet) await(sql string, args ...any) {
	f.t.Helper()
	var last error
	f.waitUntil(sql, func() bool {
		ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Second)
		defer cancel()
		var is bool
		last = f.pool.QueryRow(ctx, sql, args...).Scan(&is)
		return last == nil && is
	}, func() string {
		if last != nil {
			return last.Error()
		}
		return f.state()
	})
}

// state returns remaining jobs, for the message of a test that waited in vain.
func (f *fleet) state() string {
	rows, _ := f.pool.Query(f.t.Context(), `
		select row_to_json(j)::text from (
			select id, locked_by, locked_at, now(), attempts, run_at, queue_name, key, last_error
			  from graphile_worker.jobs order by locked_at limit 20) as j`)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}

// awaitLog waits until a worker has logged something.
func (f *fleet) awaitLog(w *worker, part string) {
	f.t.Helper()
	f.waitUntil("a line with "+part, func() bool {
		ended := w.hasEnded() // read before the log, so that the log is complete
		found := strings.Contains(w.logs.String(), part)
		if ended && !found {
			f.t.Fatalf("%s ended without a line with %s\n%s", w.id, part, w.logs.String())
		}
		return found
	}, w.logs.String)
}

func (f *fleet) waitUntil(what string, is func() bool, more func() string) {
	f.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !is(); <-again.C {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited in vain for %s\n%s", what, more())
		}
	}
}

// done selects whether all jobs have run. A job whose key was taken over while its worker was disconnected may remain, as failed.
const done = "select count(*) = 0 from graphile_worker.jobs where locked_at is not null or attempts < max_attempts"

// workers starts n workers with a URL of the database, and waits until they are running.
func (f *fleet) workers(n int, url string) (started []*worker) {
	f.t.Helper()
	for i := range n {
		started = append(started, f.start(fmt.Sprint("w", i), url))
	}
	for _, w := range started {
		f.awaitLog(w, "worker started")
	}
	return started
}

// notes returns the lines that the workers have written so far.
func (f *fleet) notes() []string {
	f.t.Helper()
	content, err := os.ReadFile(f.folder + "/notes")
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// awaitMore waits until the workers have ended n more jobs.
func (f *fleet) awaitMore(n int) {
	f.t.Helper()
	goal := f.ended() + n
	f.waitUntil("more jobs to be done", func() bool { return f.ended() >= goal }, func() string { return "" })
}

func (f *fleet) ended() (n int) {
	for _, line := range f.notes() {
		if strings.HasPrefix(line, "end,") {
			n++
		}
	}
	return n
}
