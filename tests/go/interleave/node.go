package interleave

import (
	"maps"
	"slices"
)

// node is a state of a world from which one session or another can do the next step.
type node struct {
	can   []int
	sleep map[int]deed // steps from here that lead to orders that are equivalent to ones already seen, by session
	tried []int        // the sessions whose step was taken from here; the last is that of the run
	did   []deed       // what these steps have done
}

// A deed is what a step has done, and which sessions it has moved: its own, and those that had waited for a lock.
type deed struct {
	footprint
	moved []int
}

// dependent tells whether the order of two steps can matter.
func (a deed) dependent(b deed) bool {
	moved := func(i int) bool { return slices.Contains(b.moved, i) }
	return slices.ContainsFunc(a.moved, moved) || dependent(a.footprint, b.footprint)
}

// newNode returns the node that the last step of a path has led to. Whatever was tried before that step, or slept, and does
// not depend on it, sleeps on: to take it now leads where it led to when it was taken first.
func newNode(path []*node, can []int) *node {
	n := &node{can: can, sleep: make(map[int]deed)}
	if len(path) > 0 {
		parent := path[len(path)-1]
		last := len(parent.tried) - 1
		asleep := maps.Clone(parent.sleep)
		for k, i := range parent.tried[:last] {
			asleep[i] = parent.did[k]
		}
		for i, did := range asleep {
			if !did.dependent(parent.did[last]) {
				n.sleep[i] = did
			}
		}
	}
	return n
}

// choose takes the next session to try.
func (n *node) choose() bool {
	for _, i := range n.can {
		if _, sleeps := n.sleep[i]; !sleeps && !slices.Contains(n.tried, i) {
			n.tried = append(n.tried, i)
			return true
		}
	}
	return false
}

func (n *node) chosen() int { return n.tried[len(n.tried)-1] }
