// Package history runs producers, workers, administrators and sessions that kill others on one queue. It records every
// call and its answer with the time of the database's clock before and after, and checks the history against the rules:
// calls that certainly happened in an order must be allowed in that order; calls that overlapped may have happened in
// any order.
package history

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	callsFlag = flag.Int("history.calls", 3000, "how many `calls` to make in each run")
	dumpFlag  = flag.String("history.dump", "", "a `file` to write the last history to, a call a line by its start")
	seedFlag  = flag.Uint64("history.seed", 1, "the `seed` of what each session does; 0 draws one")
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestWhatManyDoAtOnceKeepsTheRules(t *testing.T) {
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	for _, p := range []profile{crowd, decided, spread, limited, transacted} {
		t.Run(p.name, func(t *testing.T) {
			if p.limits != nil {
				pgtest.OnOneVersion(t)
			}
			r := newRun(t, p, seed, *callsFlag/max(1, p.part))
			judge(t, r)
			if p.inTransactions > 0 && (r.counts["shared transaction of "+several] == 0 ||
				r.counts["effect of "+given] == 0 || r.counts["effect of "+inside] == 0) {
				t.Error("no jobs ran in transactions")
			}
		})
	}
}

// judge makes a run, reports the violations in its history, and logs counts of its events.
func judge(t *testing.T, r *run) {
	t.Helper()
	started := time.Now()
	events, end, err := r.history(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ran := time.Since(started)
	dump(t, events)
	verdict := check(events, end, r.profile.limits...)
	t.Logf("seed %d: %d calls in %v, checked in %v", r.seed, r.made.Load(), ran.Round(time.Millisecond),
		(time.Since(started) - ran).Round(time.Millisecond))
	t.Logf("%8d claims judged by order, %d times a job certainly waited", verdict.judged, verdict.waits)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		t.Logf("%8d %s", r.counts[what], what)
	}
	for _, because := range slices.Sorted(maps.Keys(verdict.excused)) {
		t.Logf("%8d excused: %s", verdict.excused[because], because)
	}
	for _, v := range verdict.violations[:min(10, len(verdict.violations))] {
		t.Error(v)
	}
	if len(verdict.violations) > 0 {
		t.Errorf("%d violations", len(verdict.violations))
	}
}

// dump writes a history to the file that the flag names.
func dump(t *testing.T, events []*event) {
	t.Helper()
	if *dumpFlag == "" {
		return
	}
	var b strings.Builder
	for _, e := range slices.SortedFunc(slices.Values(events),
		func(a, b *event) int { return cmp.Compare(a.start, b.start) }) {
		fmt.Fprintln(&b, e)
	}
	if err := os.WriteFile(*dumpFlag, []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}
