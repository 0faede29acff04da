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

// outcomes returns what comes of a world, and in how many orders.
func outcomes(t *testing.T, d *driver, w world, whole bool) (found set, orders, runs int) {
	t.Helper()
	d.passNone, found, runs = whole, set{}, d.runs
	e := &explorer{driver: d, world: w, whole: whole}
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
			all, orders, _ := outcomes(t, d, w, true)
			some, fewer, runs := outcomes(t, d, w, false)
			t.Logf("%d outcomes in %d orders, %d in %d orders, %d runs", len(all), orders, len(some), fewer, runs)
			if want, got := slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(some)); !slices.Equal(got, want) {
				t.Errorf("all orders give\n%s\nand those that are run\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}
