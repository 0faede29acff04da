package gwrun

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// The test kills a backend: the server then ends all other backends, recovers and restarts, and refuses connections in the
// meantime.
func TestARestartOfPostgreSQLIsSurvived(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Server(t, map[string]string{"synchronous_commit": "on"}).URL("postgres") // commits must survive
	gate := newGate(t)
	p := work(t, databaseURL, tasks(t, map[string]string{
		"short": "exit 0",
		"long":  `echo started; read -r word < '` + gate + `'`,
	}), "-j", "2", "--poll-interval", "1h")
	p.waitLog("worker started")
	pool := pgtest.Pool(t, databaseURL)
	addJob(t, pool, "long", "{}")
	p.waitLog("started")

	backend := pgtest.Value[int](t, pool, "select pg_backend_pid()")
	if err := pgtest.Kill(backend, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.waitLog("database cannot be reached")
	pool.Reset()
	waitForServer(t, pool)

	openGate(t, gate)
	addJob(t, pool, "short", "{}")
	pgtest.Await(t, pool, queueIsEmpty)
	p.waitLog("database can be reached again")
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

// waitForServer waits until the server accepts connections.
func waitForServer(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for err := pool.Ping(ctx); err != nil; err = pool.Ping(ctx) {
		if ctx.Err() != nil {
			t.Fatalf("the server does not come back: %v", err)
		}
		<-again.C
	}
}
