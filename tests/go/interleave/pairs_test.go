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

// An order in which a claim answers less than it could: the job was not due yet when the claim began.
func TestAClaimGoesByTheTimeWhenItBegan(t *testing.T) {
	pgtest.OnOneVersion(t)
	order, err := parseOrder("1,2,2,2,1,1")
	if err != nil {
		t.Fatal(err)
	}
	findings, _, err := newTestDriver(t).again(t.Context(), of("failed", "get_job_batch", "retry"), order,
		newJudges()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}
