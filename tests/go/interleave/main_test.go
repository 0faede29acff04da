// Two calls at once, in every order. By default some pairs are drawn, for as long as -interleave.for says; to run all, or
// those whose names match:
//
//	go test ./tests/go/interleave -run TwoCalls -interleave.for=0 -timeout 0 -v
//	go test ./tests/go/interleave -run TwoCalls -interleave.for=0 -interleave.world='^ready: get_job, ' -v
package interleave

import (
	"context"
	"flag"
	"math/rand/v2"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	forFlag     = flag.Duration("interleave.for", time.Duration(pgtest.Scale(60, 20))*time.Second, "how `long` worlds are drawn and run; 0 runs all")
	seedFlag    = flag.Uint64("interleave.seed", 0, "the `seed` by which worlds are drawn; 0 draws one")
	triplesFlag = flag.Int("interleave.triples", 1000, "how `many` triples are drawn")
	worldFlag   = flag.String("interleave.world", "", "a `pattern` for the names of the worlds")
)

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

// newTestDriver returns a driver of a database of its own, after these statements.
func newTestDriver(t testing.TB, before ...string) *driver {
	t.Helper()
	url := pgtest.Database(t)
	conn := connect(t, url)
	before = append(before, servingSince, "do $$ begin execute format('alter database %I set deadlock_timeout = ''10ms''', current_database()); end $$")
	for _, sql := range before {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	d, err := newDriver(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.close(context.WithoutCancel(t.Context())) })
	return d
}

// A checker runs a world, and returns what judges find.
type checker func(d *driver, w world, random *rand.Rand, judges ...judge) ([]*finding, tally, error)

// everyOrder runs a world in every order.
func everyOrder(t *testing.T) checker {
	return func(d *driver, w world, _ *rand.Rand, judges ...judge) ([]*finding, tally, error) {
		return d.check(t.Context(), w, *mostFlag, judges...)
	}
}

// checkAll checks worlds as the flags tell, in as many databases as there are processors.
func checkAll(t *testing.T, worlds []world, check checker) {
	t.Helper()
	pattern, seed := regexp.MustCompile(*worldFlag), *seedFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(worlds), func(i, j int) { worlds[i], worlds[j] = worlds[j], worlds[i] })
	queue := make(chan world, len(worlds))
	for _, w := range worlds {
		if pattern.MatchString(w.name) {
			queue <- w
		}
	}
	close(queue)
	var (
		began = time.Now()
		mu    sync.Mutex
		all   tally
		group sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		d, judges, random := newTestDriver(t), newJudges(), rand.New(rand.NewPCG(random.Uint64(), 0))
		group.Go(func() {
			for w := range queue {
				if *forFlag != 0 && time.Since(began) > *forFlag {
					return
				}
				did := checkOne(t, d, w, func() ([]*finding, tally, error) { return check(d, w, random, judges...) })
				mu.Lock()
				all.add(did)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%s of seed %d in %s", all, seed, time.Since(began).Round(time.Second))
}

func checkOne(t *testing.T, d *driver, w world, check func() ([]*finding, tally, error)) tally {
	began := time.Now()
	findings, did, err := check()
	if err != nil {
		t.Error(err)
		if err := d.reset(t.Context()); err != nil {
			t.Error(err)
		}
		return did
	}
	for _, f := range findings {
		t.Error(f)
	}
	t.Logf("%s: %s in %s", w.name, did, time.Since(began).Round(time.Millisecond))
	return did
}

// servingSince lets workers have sent heartbeats for long: the server of a test has just started.
const servingSince = `
	create or replace function graphile_worker._gw_serving_since() returns timestamptz language sql stable as
	$$ select timestamptz '-infinity' $$`
