// By default each test draws worlds until it has run as many orders as -interleave.orders says, first those that call
// functions which were changed since the last release. To run all pairs, or some, in all orders:
//
//	make interleave
//	make interleave FLAGS="-interleave.world='^ready: get_job, '"
//	make interleave RUN=ThreeCalls FLAGS="-interleave.most=1000"
//
// A finding names the order of the steps, and -interleave.scripts=DIR writes it as scripts for psql. To run it again:
//
//	make interleave FLAGS="-interleave.world='^ready: get_job, remove$' -interleave.order=1,1,2,2,1"
package interleave

import (
	"context"
	"flag"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	ordersFlag = flag.Int("interleave.orders", -1,
		"how `many` orders each test runs of worlds that it draws; 0 runs all worlds")
	seedFlag    = flag.Uint64("interleave.seed", 1, "the `seed` by which worlds are drawn; 0 draws one")
	mostFlag    = flag.Int("interleave.most", 20, "the `number` of orders of each world; 0 is all")
	triplesFlag = flag.Int("interleave.triples", 1000, "how `many` triples are drawn")
	worldFlag   = flag.String("interleave.world", "", "a `pattern` for the names of the worlds")
	orderFlag   = flag.String("interleave.order", "", "the `sessions` of the steps to take, as a finding names them")
	doneFlag    = flag.String("interleave.done", "",
		"the `file` of the worlds that earlier runs have done, which are left out; those of this run are added")
	scriptsFlag = flag.String("interleave.scripts", "",
		"the `folder` into which findings are written as scripts for psql")
)

// budget returns how many orders each test runs; 0 is all.
func budget() int {
	switch {
	case *ordersFlag >= 0:
		return *ordersFlag
	case testing.Short():
		return 15
	}
	return 30
}

// share returns how many of count cases a test tries: all if it has the time of soak.
func share(count int) int {
	if budget() == 0 || budget() >= 1000 {
		return 0
	}
	return max(1, count*budget()/80)
}

func TestMain(m *testing.M) { pgtest.Main(m) }

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// newTestDriver returns a driver of a database of its own.
func newTestDriver(t testing.TB) *driver {
	t.Helper()
	return newTestDriverOf(t, func(context.Context, *pgx.Conn) error { return nil })
}

// newTestDriverOf does the same for a schema that was changed.
func newTestDriverOf(t testing.TB, change func(context.Context, *pgx.Conn) error) *driver {
	t.Helper()
	url := pgtest.Database(t)
	conn := connect(t, url)
	if err := change(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	const soon = "do $$ begin execute format('alter database %I set deadlock_timeout = ''10ms''', current_database()); end $$"
	if _, err := run(t.Context(), conn, servingSince+";"+soon); err != nil {
		t.Fatal(err)
	}
	d, err := newDriver(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.close(context.WithoutCancel(t.Context())) })
	return d
}

// servingSince lets workers have sent heartbeats for long: the server of a test has just started.
const servingSince = `
	create or replace function graphile_worker._gw_serving_since() returns timestamptz language sql stable as
	$$ select timestamptz '-infinity' $$`
