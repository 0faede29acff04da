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
				all = append(all, world{
					name:     at.name + ": " + a.name + ", " + b.name,
					setup:    at.setup,
					sessions: []transaction{{calls: []call{a}}, {calls: []call{b}}},
				})
			}
		}
	}
	return all
}

func TestTwoCallsAtOnceDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	checkAll(t, pairs(), everyOrder(t))
}
