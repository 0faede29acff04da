package baddays

import (
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestConnectionsThatAreResetLoseNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	network, through := newProxy(t, f.url)
	f.workers(3, through)
	l := f.load()
	for range 10 {
		f.awaitMore(50)
		network.reset()
	}
	f.awaitMore(50)
	l.stop()
	f.await(done)
	f.account(l)
}

// The network stalls for less than the workers' timeouts, and then delivers all data.
func TestANetworkThatStallsLosesNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	network, through := newProxy(t, f.url)
	f.workers(3, through)
	l := f.load()
	for range 3 {
		f.awaitMore(100)
		network.stall()
		time.Sleep(time.Second) // the duration of the stall
		network.resume()
	}
	f.awaitMore(100)
	l.stop()
	f.await(done)
	f.account(l)
}

// The server loses all connections without a sign to the workers: data that they send is discarded, and the listening connection
// receives nothing. Each call has a timeout, after which the worker reconnects.
func TestConnectionsThatAreSilentlyLostAreFound(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	network, through := newProxy(t, f.url)
	f.workers(3, through)
	const listening = `select count(*) >= $1 from pg_stat_activity
		where datname = current_database() and (query like 'listen %' or query = '-- ping')`
	f.await(listening, 3)
	l := f.load()
	f.awaitMore(100)
	network.lose()
	lost := time.Now()
	l.awaitMore(50)
	l.stop()
	f.awaitMore(1)
	t.Logf("jobs were run again after %v", time.Since(lost))
	f.await(listening, 3)
	t.Logf("all listened again after %v", time.Since(lost))
	f.await(done)
	f.account(l)
}
