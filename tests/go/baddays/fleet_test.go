package baddays

import (
	"context"
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

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

// fleet is a database, the workers on it, and what they note in a file.
type fleet struct {
	t      *testing.T
	url    string
	pool   *pgxpool.Pool
	folder string
	killed map[string]bool // workers that the test has killed, by id
}

func newFleet(t *testing.T, url string) *fleet {
	t.Helper()
	return &fleet{t: t, url: url, pool: pgtest.Pool(t, url), folder: t.TempDir(), killed: make(map[string]bool)}
}

// ownServer starts a server for the test alone, on which commits survive a crash, and migrates its database.
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

// await waits until a query says true, whatever happens to the database meanwhile.
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
		return ""
	})
}

// awaitLog waits until a worker has logged something.
func (f *fleet) awaitLog(w *worker, part string) {
	f.t.Helper()
	f.waitUntil("a line with "+part, func() bool { return strings.Contains(w.logs.String(), part) }, w.logs.String)
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

const (
	registered = "select count(*) = $1 from graphile_worker._gw_workers where recovered_at is null"
	empty      = "select count(*) = 0 from graphile_worker.jobs"
)

// notes returns the lines that the workers have written so far.
func (f *fleet) notes() []string {
	f.t.Helper()
	content, err := os.ReadFile(f.folder + "/notes")
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// awaitMore waits until the workers have ended so many jobs more.
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
