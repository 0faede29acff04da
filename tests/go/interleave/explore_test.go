package interleave

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// wholeWorlds are so small that all their orders can be run.
var wholeWorlds = []world{
	of("running", "complete", "renew"),
	of("running", "complete", "unlock"),
	of("running", "complete by lease", "replace"),
	of("running", "complete", "fail"),
	of("ready", "retry", "admin fail"),
	of("busy queue", "complete", "retry"),
	of("busy queue", "complete", "renew"),
	of("ready", "get_job_batch", "remove"),
}

// sampledWorlds have too many orders to run them all, and few in the reduced set.
var sampledWorlds = []world{
	of("running queue", "get_job", "complete"),
	of("running queue", "get_job_batch", "unlock"),
	of("dead queue", "get_job", "complete"),
	of("dead queue", "get_job_batch", "heartbeat"),
	of("dead queue", "beat", "heartbeat"),
	of("queue", "get_job", "get_job_batch"),
	of("queue", "get_job", "remove"),
	of("running", "complete", "fail", "renew"),
	of("ready", "replace", "remove", "get_job"),
	of("debounced", "debounce", "get_job"),
	of("once, over", "once", "remove"),
	of("throttled, running", "throttle", "fail"),
}

// racingWorlds are those with waits for locks, where sessions that have waited go on when others end.
var racingWorlds = []world{
	of("scheduled", "run_cron", "unschedule"),
	of("busy", "unlock", "unlock"),
	of("ready", "dedupe", "run_cron"),
	of("running queue", "complete", "replace in queue"),
	of("queue", "replace in queue", "remove"),
}

// outcomes returns what comes of a world, and in how many orders.
func outcomes(t *testing.T, e *explorer) (found set, orders, runs int) {
	t.Helper()
	d := e.driver
	d.passNone, found, runs = e.whole, set{}, d.runs
	if err := e.run(t.Context(), 0, func([]int) error {
		o, err := d.outcome(t.Context())
		found[o.String()+d.listener.missed(d.failed())] = true
		orders++
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found, orders, d.runs - runs
}

func TestTheOrdersThatAreLeftOutHaveNoOutcomeOfTheirOwn(t *testing.T) {
	pgtest.OnOneVersion(t)
	d := newTestDriver(t)
	for _, w := range drawn(t, wholeWorlds, share(3)) {
		t.Run(w.name, func(t *testing.T) {
			compare(t, &explorer{driver: d, world: w, whole: true}, &explorer{driver: d, world: w})
		})
	}
}

func TestTheStepsThatAreTakenEarlyAreEnough(t *testing.T) {
	pgtest.OnOneVersion(t)
	d := newTestDriver(t)
	for _, w := range drawn(t, racingWorlds, share(3)) {
		t.Run(w.name, func(t *testing.T) {
			compare(t, &explorer{driver: d, world: w, every: true}, &explorer{driver: d, world: w})
		})
	}
}

func TestRandomOrdersHaveNoOutcomeThatTheReducedSetHasNot(t *testing.T) {
	pgtest.OnOneVersion(t)
	d := newTestDriver(t)
	orders := 40
	if share(1) == 0 {
		orders = 1000
	}
	for _, w := range drawn(t, sampledWorlds, share(3)) {
		t.Run(w.name, func(t *testing.T) {
			reduced, count, _ := outcomes(t, &explorer{driver: d, world: w})
			d.passNone = true
			random, seen := seeded(t.Name()), set{}
			for range orders {
				order, err := d.wander(t.Context(), w, random, false)
				if err != nil {
					t.Fatal(err)
				}
				o, err := d.outcome(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				text := o.String() + d.listener.missed(d.failed())
				seen[text] = true
				if !reduced[text] && o.took < backoff(1)-backoff(0) { // else times in it cannot be told apart
					t.Errorf("order %s gives an outcome of its own:\n%s", formatOrder(order), text)
				}
			}
			t.Logf("%d outcomes in %d orders, %d in %d random orders", len(reduced), count, len(seen), orders)
		})
	}
}

func compare(t *testing.T, more, fewer *explorer) {
	t.Helper()
	all, orders, runs := outcomes(t, more)
	some, left, needed := outcomes(t, fewer)
	t.Logf("%d outcomes in %d orders of %d runs, %d in %d orders of %d runs", len(all), orders, runs, len(some), left,
		needed)
	if want, got := slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(some)); !slices.Equal(got, want) {
		t.Errorf("all orders give\n%s\nand those that are run\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}
