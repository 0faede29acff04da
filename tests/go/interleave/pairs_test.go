package interleave

import (
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// pairs returns a world for each place and each two calls.
func pairs() (all []world) {
	calls := slices.Concat(calls, nodeCalls)
	for _, at := range places {
		for i, a := range calls {
			for _, b := range calls[i:] {
				all = append(all, of(at.name, a.name, b.name))
			}
		}
	}
	return all
}

func TestTwoCallsAtOnceDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	checkAll(t, pairs(), everyOrder(t))
}

// Orders in which a claim answers less than it could, for what was so when it began or had passed a queue.
func TestAClaimMayLeaveOutWhatWasLockedOrNotDueWhenItBegan(t *testing.T) {
	pgtest.OnOneVersion(t)
	d := newTestDriver(t)
	for _, c := range []struct {
		world world
		order string
	}{
		{of("failed", "get_job_batch", "retry"), "1,2,2,2,1,1"},
		{of("queue", "preserve", "late batch"), "1,1,1,1,2,2,2,2,2,2,2,2,2,2,2,2,2,2,1,2,2,2,2"},
	} {
		order, err := parseOrder(c.order)
		if err != nil {
			t.Fatal(err)
		}
		findings, _, err := d.again(t.Context(), c.world, order, newJudges()...)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if knownWhy(f) == "" {
				t.Error(f)
			}
		}
	}
}
