package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// Filling the queue takes gigabytes, so this test lowers the fraction from which doctor() reports it.
func TestAListenerInAnOpenTransactionThatFillsTheNotifyQueueIsTold(t *testing.T) {
	pool := install(t, pgtest.Server(t, nil).URL("postgres"))
	database := pool.Config().ConnString()
	listener := session(t, database, "listen channel", "begin", "select 1")
	visit(t, database, "select pg_notify('channel', n || repeat('x', 7000)) from generate_series(1, 100) as n")

	const find = "select d.remedy from graphile_worker._gw_find_full_notify_queue(threshold => 0.00001) as d"
	_, statement, _ := strings.Cut(pgtest.Value[string](t, pool, find), "\n")
	if want := fmt.Sprintf("select pg_terminate_backend(%d);", listener.PgConn().PID()); statement != want {
		t.Fatalf("the remedy is %q, want %q", statement, want)
	}
	if pgtest.Value[bool](t, pool, told, "notify queue", "server") {
		t.Error("a queue that is almost empty is reported")
	}
	pgtest.Exec(t, pool, statement)
	pgtest.Await(t, pool, "select not exists ("+find+")")
}
