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

// A network that stands still for less than the workers' patience, and then delivers what it held back.
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
		time.Sleep(time.Second) // the stall itself, there is nothing to wait for
		network.resume()
	}
	f.awaitMore(100)
	l.stop()
	f.await(done)
	f.account(l)
}

// The server has forgotten all connections, and nobody has told the workers: what they send is swallowed, and so is what
// the listening connection would hear. Each call has an end, after which the worker connects anew.
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
