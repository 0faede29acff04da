package baddays

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// Under load the server refuses statements for a while: a trigger simulates a full disk.
func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	workers := f.workers(3, f.url)
	l := f.load()
	f.awaitMore(100)
	f.exec(`create function pg_temp_full() returns trigger language plpgsql as
	        $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
	for _, operation := range []string{"insert", "update", "delete", "insert or update or delete"} {
		f.exec("create trigger disk_is_full before " + operation +
			" on graphile_worker._private_jobs for each statement execute function pg_temp_full()")
		if strings.Contains(operation, "update") || strings.Contains(operation, "delete") {
			f.waitUntil("complaints", func() bool { return strings.Contains(workers[0].logs.String(), "53100") },
				workers[0].logs.String)
		}
		f.exec("drop trigger disk_is_full on graphile_worker._private_jobs")
		f.awaitMore(50)
	}
	l.stop()
	f.await(done)
	f.account(l)
}

// A session locks the tables for longer than the server's lock_timeout and statement_timeout.
func TestTimeoutsOfTheServerLoseNothing(t *testing.T) {
	t.Parallel()
	for _, timeout := range []string{"statement_timeout", "lock_timeout"} {
		t.Run(timeout, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, pgtest.Database(t))
			w := f.workers(2, f.url+"&options=-c%20"+timeout+"%3D3000")[0]
			l := f.load()
			f.awaitMore(100)
			blocker, err := f.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := blocker.Exec(t.Context(), "lock table graphile_worker._private_jobs"); err != nil {
				t.Fatal(err)
			}
			f.awaitLog(w, "claim failed")
			if err := blocker.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.awaitMore(100)
			l.stop()
			f.await(done)
			f.account(l)
		})
	}
}

// Other clients take all connections when the workers' connections are ended.
func TestAConnectionLimitThatIsReachedLosesNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t, ownServer(t, map[string]string{"max_connections": "30"}).URL("postgres"))
	workers := f.workers(3, f.url)
	l := f.load()
	f.awaitMore(100)
	var hogs []*pgx.Conn
	var pids []int32
	connect := func() error {
		hog, err := pgx.Connect(t.Context(), f.url)
		if err == nil {
			hogs, pids = append(hogs, hog), append(pids, int32(hog.PgConn().PID()))
		}
		return err
	}
	if err := connect(); err != nil {
		t.Fatal(err)
	}
	// Until the first worker is refused. If that lasted longer, the other workers would rightly consider it dead.
	f.waitUntil("a worker that is refused", func() bool {
		// The workers may reconnect before all connections are taken.
		_, err := hogs[0].Exec(t.Context(), `
			select pg_terminate_backend(pid) from pg_stat_activity
			 where backend_type = 'client backend' and pid <> all ($1::integer[])`, pids)
		if err != nil {
			t.Fatal(err)
		}
		for connect() == nil { // until no connection is left
		}
		return slices.ContainsFunc(workers, func(w *worker) bool {
			return strings.Contains(w.logs.String(),
				"SQLSTATE 53300")
		})
	}, workers[0].logs.String)
	for _, hog := range hogs {
		_ = hog.Close(t.Context())
	}
	f.awaitMore(100)
	l.stop()
	f.await(done)
	f.account(l)
}
