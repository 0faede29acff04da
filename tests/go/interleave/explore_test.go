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

func compare(t *testing.T, more, fewer *explorer) {
	t.Helper()
	all, orders, runs := outcomes(t, more)
	some, left, needed := outcomes(t, fewer)
	t.Logf("%d outcomes in %d orders of %d runs, %d in %d orders of %d runs", len(all), orders, runs, len(some), left, needed)
	if want, got := slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(some)); !slices.Equal(got, want) {
		t.Errorf("all orders give\n%s\nand those that are run\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}
