package shim_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// A worker has several loops, each of which retries.
func TestAnOutageIsLoggedOnceAndSoIsItsEnd(t *testing.T) {
	q := newQueue(t)
	config := q.pool.Config()
	config.ConnConfig.RuntimeParams["application_name"] = "outage"
	var gone atomic.Bool
	var refused atomic.Int32
	many := make(chan struct{})
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if gone.Load() {
			if refused.Add(1) == 8 {
				close(many)
			}
			return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
		}
		return dial(ctx, network, address)
	}
	pool := q.poolOf(config)
	w := q.workerOn(pool, shim.Config{})
	ran := make(chan struct{}, 1)
	w.Handle("after", func(context.Context, *shim.Job) error {
		ran <- struct{}{}
		return nil
	})
	w.start()
	q.awaitListening()

	gone.Store(true)
	q.exec(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'outage' and datname = current_database()`)
	q.add("after", 1)
	w.logs.await(t, "WARN database cannot be reached, worker will try again")
	receive(t, many)
	gone.Store(false)
	w.logs.await(t, "INFO database can be reached again", "lasted=")
	receive(t, ran)
	w.stop()
	for _, parts := range [][]string{{"WARN", "will try again"}, {"can be reached again"}} {
		if found, _ := w.logs.find(parts...); len(found) != 1 {
			t.Errorf("%q is logged %d times:\n%s", parts, len(found), strings.Join(found, "\n"))
		}
	}
}

// As after a failover, when the address still leads to the server that no longer accepts writes.
func TestAWorkerThatStartsOnAReadOnlyServerWaitsForOneThatTakesWrites(t *testing.T) {
	q := newQueue(t)
	database := value[string](q, "select quote_ident(current_database())")
	q.exec("alter database " + database + " set default_transaction_read_only = on")
	w := q.workerOn(pgtest.Pool(t, q.url), shim.Config{})
	w.Handle("after", func(context.Context, *shim.Job) error { return nil })
	w.start()
	w.logs.await(t, "WARN server is read-only, worker waits for a server that accepts writes")
	q.exec("begin; set transaction read write; alter database " + database +
		" reset default_transaction_read_only; commit")
	w.logs.await(t, "INFO server accepts writes again")
	w.logs.await(t, "INFO worker started")
	q.add("after", 1)
	q.await(`select count(*) = 0 from graphile_worker.jobs`)
	w.stop()

	q.exec("alter database " + database + " set default_transaction_read_only = on")
	stopped := q.workerOn(pgtest.Pool(t, q.url), shim.Config{})
	stopped.Handle("after", func(context.Context, *shim.Job) error { return nil })
	stopped.start()
	stopped.logs.await(t, "WARN server is read-only")
	stopped.stop() // while it waits
}
