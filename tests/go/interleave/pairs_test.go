package interleave

import (
	"slices"
	"testing"
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
